"""Settings, and the service that they configure."""

from iln_stream.service.decoding import build_decoder, parser_of
from iln_stream.service.learners import BOUNDED, build_learner, pool, shrinking_gradient, task_of
from iln_stream.service.prediction import predict, promote
from iln_stream.service.rebuild import rebuild
from iln_stream.service.service import Service
from iln_stream.service.settings import GROUP_OF, SETTING_GROUPS, Settings
from iln_stream.service.streams import (
    dead_letters_address,
    output_stream,
    source_stream,
    stream_options,
)
from iln_stream.service.warm_start import warm_start
from iln_stream.service.worker_processes import WorkerJob, WorkerProcesses
from iln_stream.settings import ENV_PREFIX, SettingsError

__all__ = [
    "BOUNDED",
    "ENV_PREFIX",
    "GROUP_OF",
    "SETTING_GROUPS",
    "Service",
    "Settings",
    "SettingsError",
    "WorkerJob",
    "WorkerProcesses",
    "build_decoder",
    "build_learner",
    "dead_letters_address",
    "output_stream",
    "parser_of",
    "pool",
    "predict",
    "promote",
    "rebuild",
    "shrinking_gradient",
    "source_stream",
    "stream_options",
    "task_of",
    "warm_start",
]
