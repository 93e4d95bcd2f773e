"""Settings, and the composition root that turns them into a running service."""

from iln_stream.service.build import (
    BOUNDED,
    build_learner,
    build_sink,
    build_source,
    dead_letters_address,
    pool,
    shrinking_gradient,
)
from iln_stream.service.rebuild import rebuild
from iln_stream.service.service import Service
from iln_stream.service.settings import ENV_PREFIX, Settings, SettingsError

__all__ = [
    "BOUNDED",
    "ENV_PREFIX",
    "Service",
    "Settings",
    "SettingsError",
    "build_learner",
    "build_sink",
    "build_source",
    "dead_letters_address",
    "pool",
    "rebuild",
    "shrinking_gradient",
]
