"""Learning again from the log what snapshots can't tell any more."""

import datetime as dt
import logging
import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing

from prometheus_client.registry import CollectorRegistry

from iln_stream.errors import SnapshotError
from iln_stream.listeners import Metrics
from iln_stream.prequential import PendingEvents, PrequentialLoop, RecentIds
from iln_stream.service.readers import Reader, readers
from iln_stream.service.recovery import Recovery
from iln_stream.service.settings import Settings, SettingsError
from iln_stream.service.wiring import source_stream, task_of
from iln_stream.streams import Scheme, Selection, Sequencer

log = logging.getLogger(__name__)

Skip = Mapping[int, Sequence[range]]
"""Offsets to leave out, by partition."""


def rebuild(
    settings: Settings, until: int | dt.datetime | None = None, skip: Skip | None = None
) -> list[dict[int, int]]:
    """Let a new learner learn what the snapshots had come to, of each reader.

    Nothing is published: the predictions and dead letters of these records are stored already, and
    `run` goes on where the snapshots had come to. Nothing is saved before the end, so a rebuild
    that was broken off is as none. The old snapshots go as the new ones come. Several partitions
    are learned in the order in which they come now. Learning begins at `start`; where that is
    `latest`, at the first record that the log still holds.

    Parameters
    ----------
    settings
        Of the run.
    until
        Learn only what comes before: an offset, of a single partition, or the first record at or
        after a time. `run` goes on from there, and learns and publishes again what comes after;
        with `transactional` it publishes only what is not committed yet.
    skip
        Records that are neither learned nor counted.

    Returns
    -------
    list of dict
        The positions from which each reader's learner goes on.

    Raises
    ------
    SnapshotError
        When there are no snapshots to rebuild.
    SettingsError
        When `until` or `skip` names what is not there, or not learned again.

    """
    if settings.snapshots is None:
        raise SnapshotError("snapshots: say which folder to rebuild")
    stream = source_stream(settings)
    stream.check()
    stream.wait()
    skip = skip or {}
    parts = readers(settings, stream)
    partitions = sorted(partition for reader in parts for partition in reader.partitions)
    if isinstance(until, int) and len(partitions) > 1:
        raise SettingsError(
            f"until = {until}: an offset is of one partition, and {len(partitions)} are learned; "
            "give a time, like 2026-01-31T12:00:00Z"
        )
    if strangers := sorted(skip.keys() - set(partitions)):
        raise SettingsError(
            f"skip: partition {strangers[0]} is not learned; give one of "
            f"{', '.join(map(str, partitions))}"
        )
    return [_rebuild_one(settings, stream, reader, until, skip) for reader in parts]


def _rebuild_one(
    settings: Settings, stream: Scheme, reader: Reader, until: int | dt.datetime | None, skip: Skip
) -> dict[int, int]:
    at_the_end = {"snapshot_events": 2**63, "snapshot_seconds": math.inf}
    settings = settings.model_copy(update=at_the_end)
    # What was the end when the first run began is now the end of what is to be learned again.
    start = "earliest" if settings.start in (None, "latest") else settings.start
    with ExitStack() as opened:
        recovery = Recovery(settings, stream, reader, forget=True)
        opened.callback(recovery.close)
        reached = recovery.reached
        inputs: list[Selection] = []
        for partition in reader.partitions:
            stop_at = _stop_at(stream, partition, reached.get(partition, 0), until)
            left_out = skip.get(partition, ())
            _check_skip(partition, left_out, stop_at)
            log_of_one = stream.log(partition, start, stop_at=stop_at)
            opened.callback(log_of_one.close)
            if recovery.is_of_another_topic(log_of_one.topic_id):
                log_of_one.stop_here()
            inputs.append(Selection(log_of_one, left_out))
        source = inputs[0] if len(inputs) == 1 else Sequencer(inputs)
        learner = recovery.learner()
        task = task_of(learner)
        ids = RecentIds(settings.recent_ids) if settings.recent_ids else None
        waiting = (
            PendingEvents(learner, settings.pending_events) if settings.pending_events else None
        )
        watched = Metrics(CollectorRegistry(), settings.window).watch(
            learner, source, "rebuilt", task
        )
        parts = {
            "counts": watched.state,
            "recent_ids": lambda: None if ids is None else ids.state(),
            "pending": lambda: None if waiting is None else waiting.state(),
        }
        checkpoint = recovery.checkpoint(source, learner, parts, flushes=[])
        PrequentialLoop(
            source, learner, [watched], recent_ids=ids, task=task, pending=waiting,
            checkpoint=checkpoint,
        ).run()  # fmt: skip
        positions = {partition: at for each in inputs for partition, at in each.positions.items()}
        checkpoint.move_to(positions)  # the last records may have been left out
        checkpoint.finish(always=True)
        _log_skipped(inputs)
        return positions


def _stop_at(stream: Scheme, partition: int, reached: int, until: int | dt.datetime | None) -> int:
    """Return the offset before which a partition is learned again."""
    if until is None:
        return reached
    if isinstance(until, int):
        return min(reached, until)
    with closing(stream.log(partition, until)) as at_the_time:
        return min(reached, at_the_time.positions[partition])


def _check_skip(partition: int, skip: Sequence[range], stop_at: int) -> None:
    """Refuse to leave out what `run` would then learn."""
    for each in skip:
        if each.stop > stop_at:
            raise SettingsError(
                f"skip: offset {each.stop - 1} of partition {partition} is not learned again but "
                f"by `iln-stream run`, which goes on at offset {stop_at}: name offsets before it"
            )


def _log_skipped(inputs: Sequence[Selection]) -> None:
    for each in inputs:
        for partition in each.partitions:
            offsets = [str(r.start) if len(r) == 1 else f"{r.start}-{r[-1]}" for r in each.skipped]
            if offsets:  # each line is a message of its own, so that none is taken for a repeat
                log.info(f"partition {partition}: left out offsets {', '.join(offsets)}")
