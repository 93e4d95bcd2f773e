"""One learner with its source, outputs, checkpoint and listeners."""

import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import cast

from rich.console import Console

from iln_stream.listeners import ConnectionLog, Metrics, Progress
from iln_stream.prequential import (
    Listener,
    NothingLearnedError,
    PendingEvents,
    PrequentialLoop,
    RecentIds,
)
from iln_stream.service.learners import build_learner, task_of
from iln_stream.service.outputs import Outputs
from iln_stream.service.readers import Reader
from iln_stream.service.recovery import Recovery
from iln_stream.service.settings import Settings
from iln_stream.snapshots import Checkpoint
from iln_stream.state import StateDict
from iln_stream.streams import Log, Scheme, Sequencer, Source

log = logging.getLogger(__name__)


class Worker:
    """Runs the learner of one reader.

    Parameters
    ----------
    settings
        Settings of the run.
    stream
        Stream to read.
    reader
        Partitions to read.
    metrics
        Exports the learner's metrics.
    outputs
        Sinks of predictions and dead letters.
    listeners
        The user's listeners, called last.
    console
        Draws progress if it is a terminal; None: no progress.

    """

    def __init__(
        self,
        settings: Settings,
        stream: Scheme,
        reader: Reader,
        metrics: Metrics,
        outputs: Outputs,
        listeners: Sequence[Listener] = (),
        console: Console | None = None,
    ) -> None:
        self.reader = reader
        self._checkpoint: Checkpoint | None = None
        with ExitStack() as opened:
            recovery = None
            if settings.snapshots is not None:
                recovery = Recovery(settings, stream, reader)
                opened.callback(recovery.close)
                _log_resumed(recovery, reader)
            self.source = _open_source(settings, stream, reader, recovery)
            opened.callback(self.source.close)
            self.learner = recovery.learner() if recovery else build_learner(settings, reader.seed)
            task = task_of(self.learner)
            recent_ids = RecentIds(settings.recent_ids) if settings.recent_ids else None
            pending = (
                PendingEvents(self.learner, settings.pending_events)
                if settings.pending_events
                else None
            )
            model = settings.model or f"{self.source.stream}/{settings.learner}"
            self.watched = metrics.watch(self.learner, self.source, model, task)
            writers = outputs.writers(self.source, reader.name)
            observers: list[Listener] = [self.watched]
            if console is not None and console.is_terminal:
                observers.append(Progress(settings.source, self.source.lag, console, task))
            if pending is not None:
                metrics.export(self.watched.labels, pending.metrics())
            if recovery is not None:
                kept = {"counts": self.watched, "recent_ids": recent_ids, "pending": pending}
                parts: dict[str, Callable[[], StateDict | None]] = {}
                for name, part in kept.items():
                    if part is not None and (state := recovery.part(name)) is not None:
                        part.restore(state)
                    parts[name] = _no_state if part is None else part.state
                self._checkpoint = recovery.checkpoint(
                    cast(Log, self.source), self.learner, parts, [each.flush for each in writers]
                )
                recovery.warn_of_new_partitions(cast(Log, self.source).n_partitions)
                metrics.export(self.watched.labels, self._checkpoint.metrics())
            self.loop = PrequentialLoop(
                self.source,
                self.learner,
                # The connection log comes first: a writer may wait for the same broker.
                [ConnectionLog(self.source, stream.peer), *writers, *observers, *listeners],
                recent_ids=recent_ids,
                task=task,
                pending=pending,
                checkpoint=self._checkpoint,
                never_learned=self.watched.scores.n_events == 0,
            )
            opened.callback(self._close_listeners)
            self._opened = opened.pop_all()

    def run(self) -> None:
        """Learn until the source ends or the loop is stopped, then save a snapshot.

        After an error no snapshot is saved, as listeners may have missed the last step; the next
        run resumes from the snapshot before. The exception: if no event could be learned, the
        position is saved, so that the next run does not write the same dead letters again.
        """
        try:
            self.loop.run()
        except NothingLearnedError:
            self._finish()
            raise
        self._finish()

    def close(self) -> None:
        """Close the listeners and the source, and unlock the snapshots."""
        self._opened.close()

    def _finish(self) -> None:
        if self._checkpoint is not None:
            self._checkpoint.finish()

    def _close_listeners(self) -> None:
        with ExitStack() as all_of_them:
            for listener in reversed(self.loop.listeners):
                all_of_them.callback(listener.close)


def _no_state() -> None:
    """Return None, the state of a part that is not used."""


def _open_source(
    settings: Settings, stream: Scheme, reader: Reader, recovery: Recovery | None
) -> Source:
    """Open the reader's partitions as one source."""
    if not stream.is_log:
        return stream.source()
    with ExitStack() as opened:
        inputs: list[Log] = []
        for partition in reader.partitions:
            start = recovery.start(partition) if recovery else settings.start
            inputs.append(stream.log(partition, start))
            opened.callback(inputs[-1].close)
        if len(inputs) == 1:
            source: Log = inputs[0]
        else:
            source = recovery.sequencer(inputs) if recovery else Sequencer(inputs)
        opened.pop_all()
    return source


def _log_resumed(recovery: Recovery, reader: Reader) -> None:
    if (header := recovery.header) is not None:
        where = ", ".join(
            f"offset {header.positions.get(partition, 0)} of partition {partition}"
            for partition in reader.partitions
        )
        log.info(f"resuming from the newest snapshot, at {where}")
