"""Connects what /live shows with the parts of a worker."""

from collections.abc import Mapping
from typing import Any

from iln_stream.live import About, LiveModel
from iln_stream.prequential import Task
from iln_stream.service.settings import Settings
from iln_stream.snapshots import Checkpoint


def serves_live(settings: Settings) -> bool:
    """Return whether the settings ask for /live."""
    return settings.live and settings.metrics_port is not None


def connect_live(
    live: LiveModel,
    settings: Settings,
    task: Task,
    version: str,
    versions: Mapping[str, str],
    learner: Any,
    checkpoint: Checkpoint | None,
) -> None:
    """Tell it what the model is, and let it read the learner's standings and the checkpoints.

    `version` is that of the learner, and `versions` has those of contenders, if there are several.
    """
    live.about = About(task.name, settings.source_address, settings.learner, version)
    live.versions = versions
    live.standings = getattr(learner, "standings", None)
    if live.champion is None:  # else it is that of the last step, also if a promotion came since
        live.champion = getattr(learner, "champion", None)
    if checkpoint is not None:
        live.checkpoints = checkpoint.recent
