"""Learning again from the log what snapshots can't tell any more."""

import math
from contextlib import ExitStack

from prometheus_client.registry import CollectorRegistry

from iln_stream.errors import SnapshotError
from iln_stream.listeners import Metrics
from iln_stream.prequential import PrequentialLoop, RecentIds
from iln_stream.service.build import build_log
from iln_stream.service.memory import Memory
from iln_stream.service.partitions import first_partition, other_partitions
from iln_stream.service.settings import Settings
from iln_stream.streams import KafkaPartition, wait_for_brokers


def rebuild(settings: Settings) -> list[int]:
    """Let a newborn learner learn, of each partition, what the snapshots had come to.

    Nothing is published: the predictions and dead letters of these records are stored already, and
    `run` goes on where the snapshots had come to. Nothing is saved before the end, so a rebuild
    that was broken off is as none. The old snapshots go as the new ones come.

    Returns
    -------
    list of int
        The offset from which each partition's learner goes on.

    Raises
    ------
    SnapshotError
        When there are no snapshots to rebuild.

    """
    if settings.snapshots is None:
        raise SnapshotError("snapshots: say which folder to rebuild")
    wait_for_brokers(settings.bootstrap, settings.broker_wait)
    reached, source = _rebuild_one(settings, first_partition(settings))
    others = other_partitions(settings, source)
    return [reached, *(_rebuild_one(settings, partition)[0] for partition in others)]


def _rebuild_one(settings: Settings, partition: int) -> tuple[int, KafkaPartition]:
    at_the_end = {"snapshot_events": 2**63, "snapshot_seconds": math.inf}
    with ExitStack() as opened:
        memory = Memory(settings.model_copy(update=at_the_end), partition, forget=True)
        opened.callback(memory.close)
        start = settings.start or "earliest"
        source = build_log(settings, partition, start, stop_at=memory.reached)
        opened.callback(source.close)
        if memory.is_of_another_topic(source.topic_id):
            source.stop_here()
        learner = memory.learner()
        ids = RecentIds(settings.recent_ids) if settings.recent_ids else None
        watched = Metrics(CollectorRegistry(), settings.window).watch(learner, source, "rebuilt")
        snapshotter = memory.snapshotter(learner, source, watched, ids, flushes=[])
        PrequentialLoop(source, learner, [watched, snapshotter], recent_ids=ids).run()
        snapshotter.finish(always=True)
        return source.position, source
