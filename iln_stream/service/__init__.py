"""Settings, and the composition root that turns them into a running service."""

from iln_stream.service.prediction import predict
from iln_stream.service.rebuild import rebuild
from iln_stream.service.service import Service
from iln_stream.service.settings import ENV_PREFIX, Settings, SettingsError
from iln_stream.service.wiring import (
    BOUNDED,
    build_learner,
    dead_letters_address,
    output_stream,
    pool,
    shrinking_gradient,
    source_stream,
    stream_options,
)

__all__ = [
    "BOUNDED",
    "ENV_PREFIX",
    "Service",
    "Settings",
    "SettingsError",
    "build_learner",
    "dead_letters_address",
    "output_stream",
    "pool",
    "predict",
    "rebuild",
    "shrinking_gradient",
    "source_stream",
    "stream_options",
]
