"""One learner on one partition, with all that observes it."""

import logging
from contextlib import ExitStack
from typing import cast

from rich.console import Console

from iln_stream.listeners import ConnectionLog, Metrics, Progress, SnapshotMetrics, Snapshotter
from iln_stream.prequential import Listener, PrequentialLoop, RecentIds
from iln_stream.service.build import build_learner, build_log, build_source
from iln_stream.service.memory import Memory
from iln_stream.service.outputs import Outputs
from iln_stream.service.partitions import seed_of
from iln_stream.service.settings import Settings
from iln_stream.streams import Log, Source

log = logging.getLogger(__name__)


class Lane:
    """What runs for one partition of a topic, or for another source.

    Parameters
    ----------
    settings
        Of the run.
    partition
        Of the topic; other sources have one, 0.
    metrics
        Where the lane appears.
    snapshot_metrics
        Where its snapshots do, if it has any.
    outputs
        Where its predictions and dead letters go.
    console
        Where progress is drawn, if it is a terminal; None: nowhere.

    """

    def __init__(
        self,
        settings: Settings,
        partition: int,
        metrics: Metrics,
        snapshot_metrics: SnapshotMetrics,
        outputs: Outputs,
        console: Console | None = None,
    ) -> None:
        self._snapshotter: Snapshotter | None = None
        with ExitStack() as opened:
            memory = None
            if settings.snapshots is not None:
                memory = Memory(settings, partition)
                opened.callback(memory.close)
                if memory.header is not None:
                    log.info(
                        "partition %d: going on at offset %d, where the newest snapshot ends",
                        partition,
                        memory.header.next_offset,
                    )
            self.source = _source(settings, partition, memory)
            opened.callback(self.source.close)
            self.learner = (
                memory.learner()
                if memory
                else build_learner(settings, seed_of(settings.seed, partition))
            )
            recent_ids = RecentIds(settings.recent_ids) if settings.recent_ids else None
            self.watched = metrics.watch(self.learner, self.source, settings.model)
            # Writers first: what was counted has been handed over.
            writers = outputs.writers(self.source)
            listeners: list[Listener] = [*writers, self.watched]
            # First: a writer may wait for the same broker.
            listeners.insert(0, ConnectionLog(self.source, f"the broker at {settings.bootstrap}"))
            if console is not None and console.is_terminal:
                listeners.append(Progress(settings.source, self.source.lag, console))
            if memory is not None:  # last: what is saved has been counted
                memory.restore(self.watched, recent_ids)
                self._snapshotter = memory.snapshotter(
                    self.learner,
                    cast(Log, self.source),
                    self.watched,
                    recent_ids,
                    [each.flush for each in writers],
                )
                listeners.append(self._snapshotter)
                snapshot_metrics.watch(self.watched, self._snapshotter)
            self.loop = PrequentialLoop(self.source, self.learner, listeners, recent_ids=recent_ids)
            opened.callback(self._close_listeners)
            self._opened = opened.pop_all()

    def run(self) -> None:
        """Learn until the source ends or the loop is stopped, and save the end.

        After an error nothing is saved: a listener may not have heard of what was learned last.
        Learning then goes on from the snapshot before.
        """
        self.loop.run()
        if self._snapshotter is not None:
            self._snapshotter.finish()

    def close(self) -> None:
        """Let the listeners end, leave the source, let others have the folder."""
        self._opened.close()

    def _close_listeners(self) -> None:
        with ExitStack() as all_of_them:
            for listener in reversed(self.loop.listeners):
                all_of_them.callback(listener.close)


def _source(settings: Settings, partition: int, memory: Memory | None) -> Source:
    if settings.source != "kafka":
        return build_source(settings)
    return build_log(settings, partition, settings.start if memory is None else memory.start)
