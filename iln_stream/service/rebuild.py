"""Learning again from the log what snapshots can't tell any more."""

import math
from contextlib import ExitStack

from prometheus_client.registry import CollectorRegistry

from iln_stream.errors import SnapshotError
from iln_stream.listeners import Metrics
from iln_stream.prequential import PendingEvents, PrequentialLoop, RecentIds
from iln_stream.service.readers import Reader, readers
from iln_stream.service.recovery import Recovery
from iln_stream.service.settings import Settings
from iln_stream.service.wiring import source_stream, task_of
from iln_stream.streams import Log, Scheme, Sequencer


def rebuild(settings: Settings) -> list[dict[int, int]]:
    """Let a new learner learn what the snapshots had come to, of each reader.

    Nothing is published: the predictions and dead letters of these records are stored already, and
    `run` goes on where the snapshots had come to. Nothing is saved before the end, so a rebuild
    that was broken off is as none. The old snapshots go as the new ones come. Several partitions
    are learned in the order in which they come now.

    Returns
    -------
    list of dict
        The positions from which each reader's learner goes on.

    Raises
    ------
    SnapshotError
        When there are no snapshots to rebuild.

    """
    if settings.snapshots is None:
        raise SnapshotError("snapshots: say which folder to rebuild")
    stream = source_stream(settings)
    stream.check()
    stream.wait()
    return [_rebuild_one(settings, stream, reader) for reader in readers(settings, stream)]


def _rebuild_one(settings: Settings, stream: Scheme, reader: Reader) -> dict[int, int]:
    at_the_end = {"snapshot_events": 2**63, "snapshot_seconds": math.inf}
    settings = settings.model_copy(update=at_the_end)
    with ExitStack() as opened:
        recovery = Recovery(settings, stream, reader, forget=True)
        opened.callback(recovery.close)
        reached = recovery.reached
        inputs: list[Log] = []
        for partition in reader.partitions:
            stop_at = reached.get(partition, 0)
            log = stream.log(partition, settings.start or "earliest", stop_at=stop_at)
            opened.callback(log.close)
            if recovery.is_of_another_topic(log.topic_id):
                log.stop_here()
            inputs.append(log)
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
        checkpoint.finish(always=True)
        return dict(source.positions)
