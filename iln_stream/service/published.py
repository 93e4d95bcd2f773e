"""Builds the publisher that the settings describe."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from iln_stream.contest import Contest
from iln_stream.listeners import ModelMetrics
from iln_stream.mapping.lags import Lags
from iln_stream.prequential import Task
from iln_stream.publishing import Publisher
from iln_stream.publishing.capture import Capture
from iln_stream.service.challengers import champion_of, learners_of, settings_alone
from iln_stream.service.readers import Reader
from iln_stream.service.recovery import configuration
from iln_stream.service.settings import Settings
from iln_stream.streams import Log, Scheme, Source


def build_publisher(
    settings: Settings,
    stream: Scheme,
    reader: Reader,
    source: Source,
    learner: Any,
    task: Task,
    counts: ModelMetrics,
    history: Mapping[str, Any] | None = None,
) -> Publisher | None:
    """Return the publisher of a reader's learner; None if `publish` is unset.

    Parameters
    ----------
    settings
        Settings of the run.
    stream, reader, source
        What the learner reads.
    learner
        The learner, restored or new.
    task
        Regression or classification.
    counts
        Counts the learned events, also those of runs before.
    history
        Describes what was learned before the log; None: nothing.

    Raises
    ------
    PublishingError
        When the learner can't be published.

    """
    if settings.publish is None:
        return None

    def champion() -> tuple[str, Any]:
        is_contest = isinstance(learner, Contest)
        name = learner.champion if is_contest else settings.learner
        return name, champion_of(learner)

    for each in learners_of(learner):
        Capture(each, settings.snapshot_pickle)  # any may become champion: refuse it now
    n_before = 0 if history is None else history["n_labelled"]
    log = cast(Log, source) if stream.is_log else None
    return Publisher(
        Path(settings.publish) / f"{published_name(stream, reader)}.model",
        learner,
        seconds=settings.publish_seconds,
        allow_pickle=settings.snapshot_pickle,
        task=task.name,
        champion=champion,
        n_learned=lambda: n_before + counts.scores.n_labelled,
        stream=source.stream,
        topic_id=None if log is None else log.topic_id,
        positions=None if log is None else log.positions,
        configuration=_hash(
            {**configuration(settings_alone(settings), history), "seed": reader.seed}
        ),
        series_inputs=[name for name, _ in Lags(settings.lags, settings.rolling_means).names],
        resumable=log is not None,
    )


def published_name(stream: Scheme, reader: Reader) -> str:
    """Return the name of a reader's published version: that of the folder of its snapshots.

    A file's name stands for its path.
    """
    name = stream.name if stream.is_log else re.sub(r"[^\w.+-]+", "-", Path(stream.name).name)
    return f"{name}-{reader.name}"


def _hash(values: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
