"""Publishes versions of a learner for other processes to predict with."""

import logging
import pickle
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from time import perf_counter, time
from typing import Any

import numpy as np
from river import base

from iln_stream._version import __version__
from iln_stream.errors import NotFiniteError, PublishingError, SnapshotError, StateError
from iln_stream.learners import (
    broken_numbers,
    model_of,
    some_of,
    state_of,
    unserializable_parameters,
)
from iln_stream.learners.infinite_layer.experts.networks import without_replay
from iln_stream.loop import MOST_IN_A_ROW, Listener, Step
from iln_stream.records import Command, DeadLetter
from iln_stream.reporting import MetricSpec
from iln_stream.snapshots.learner import PICKLE, is_pickle
from iln_stream.snapshots.published_file import Identity, VersionHeader
from iln_stream.snapshots.versions import Versions
from iln_stream.state import StateDict
from iln_stream.streams import StreamPartition


class Capture:
    """Takes copies of a learner, which share no memory with it.

    It is one of ours, or a River pipeline of ours; with `allow_pickle` any, or else a
    PublishingError is raised.
    """

    def __init__(self, learner: Any, allow_pickle: bool) -> None:
        self.learner = learner
        self._pickled = False
        try:
            for parameter, kind in unserializable_parameters(self._state()):
                raise StateError(
                    f"{parameter} is a {kind}, which a state does not describe, so it could not be "
                    "restored: make that class @restorable (iln_stream.learners)"
                )
        except StateError as error:
            if not allow_pickle:
                raise PublishingError(
                    f"publish: {error}; or set snapshot_pickle (in Python allow_pickle=True) to "
                    "publish it as a pickle, which runs code when it is read: do so only if nobody "
                    "else can write to the folder"
                ) from error
            self._pickled = True
            self.take()
        except NotFiniteError:
            pass  # the learner may heal

    def take(self) -> StateDict:
        """Return a copy; raise an error if the state is not finite, or can't be pickled."""
        if not self._pickled:
            return self._state()
        try:
            data = pickle.dumps(self.learner, pickle.HIGHEST_PROTOCOL)
            return {PICKLE: np.frombuffer(data, np.uint8)}
        except Exception as error:  # it runs the learner's own code
            raise PublishingError(f"publish: the learner can't be pickled: {error!r}") from error

    def _state(self) -> StateDict:
        state: StateDict = without_replay(state_of(self.learner))
        if broken := broken_numbers(state):
            raise NotFiniteError(f"publish: the learner's state is not finite: {some_of(broken)}")
        return state


def learner_of(state: StateDict, allow_pickle: bool) -> Any:
    """Return the learner that `Capture.take` copied, to predict with; or raise PublishingError."""
    try:
        if not is_pickle(state):
            return model_of(state)
        if not allow_pickle:
            raise PublishingError(
                "it holds a pickle, which runs code when it is read: allow that with allow_pickle, "
                "if nobody else can write to the folder"
            )
        return pickle.loads(state[PICKLE])  # noqa: S301
    except StateError as error:
        raise PublishingError(str(error)) from error
    except (ImportError, AttributeError) as error:
        raise PublishingError(
            f"it needs code that is not found: {error}; name its folder in PYTHONPATH"
        ) from error


log = logging.getLogger(__name__)


class Writer:
    """Writes one version at a time, and keeps some.

    A version that can't be written or kept is counted and logged, the first of several in a row
    only: publishing must not stop learning.
    """

    def __init__(self, versions: Versions) -> None:
        self._file, self._versions = versions.newest, versions
        self._queue: SimpleQueue[tuple[VersionHeader, StateDict] | None] = SimpleQueue()
        self._idle = threading.Event()
        self._idle.set()
        self._thread: threading.Thread | None = None
        self.written: VersionHeader | None = None  # the last one
        self.identity: Identity | None = None  # of its file
        self.seconds: float | None = None  # that it took, from when it was captured
        self.failed = self._unkept = False
        self.n_failed = 0

    @property
    def busy(self) -> bool:
        """Whether a version is being written."""
        return not self._idle.is_set()

    def write(self, header: VersionHeader, copy: StateDict) -> None:
        """Start to write a copy of the learner; the last one must be written."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="publish", daemon=True)
            self._thread.start()
        self._idle.clear()
        self._queue.put((header, copy))

    def wait(self) -> None:
        """Wait until the last version is written, or has failed."""
        self._idle.wait()

    def close(self) -> None:
        """Finish the last version, and end the thread."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None

    def failed_with(self, error: Exception) -> None:
        """Count a failure, and log it unless the last version failed, too."""
        self.n_failed += 1
        if not self.failed:
            log.error("can't publish %s: %s; learning continues, and the next versions are tried "
                      "without a message", self._file.path, error)  # fmt: skip
        self.failed = True

    def keep(self, header: VersionHeader | None = None) -> None:
        """Call `Versions.keep`; a failure is counted, and the first of several in a row logged."""
        try:
            if self._versions.keep(header) is not None:
                self._unkept = False
        except (OSError, SnapshotError) as error:
            self.n_failed += 1
            if not self._unkept:
                log.error("can't keep versions of %s: %s; publishing continues", self._file.path,
                          error)  # fmt: skip
            self._unkept = True

    def _run(self) -> None:
        while (job := self._queue.get()) is not None:
            began = perf_counter()
            try:
                self._write(*job)
            except Exception as error:  # a full disk, or a state that is not one
                self.failed_with(error)
            else:
                self.seconds = perf_counter() - began
            del job
            self._idle.set()

    def _write(self, header: VersionHeader, copy: StateDict) -> None:
        if self.written is not None and self.written.learner != header.learner:
            self.keep()  # the last one before a promotion
        self.identity = self._file.write(header, copy)
        self.written = header
        self.keep(header)
        if self.failed:
            log.info("published %s again", self._file.path)
        self.failed = False


_LEAST_REST = 39.0
"""Copies take at most a twentieth of the time, also if each takes twice as long as the last."""


class Publisher(Listener):
    """Writes the learner to a file whenever the last version is old enough.

    The thread that learns makes a copy of the learner, without the past events that it replays; a
    thread writes the file. Other processes read it by a `Follower`.

    A run that is resumed after a crash learns some events again. It publishes nothing until it has
    reached the positions of the version that is there, so versions never go back; unless that
    version is of another topic or configuration.

    If a version can't be written, the failure is counted and logged, and learning continues.

    Parameters
    ----------
    path
        The file, usually `FOLDER/NAME.model`. Missing folders are made.
    learner
        One of ours, or a River pipeline of ours; with `allow_pickle`, any River learner.
    seconds
        From one version to the next. It takes longer if a copy takes more than a twentieth of it,
        as that of a large pickle may.
    allow_pickle
        Whether a learner of another library may be published as a pickle. Reading that runs code:
        only if nobody else can write to the folder.
    task
        "regression" or "classification"; None: by the learner's class.
    name
        The learner's name; None: that of its class.
    champion
        Returns name and learner to publish, if these change while it runs; None: `name` and
        `learner`.
    n_learned
        Returns the number of events learned; None: those that `learned` or a `Step` reported.
    positions
        Where the learner begins, by partition of the log.
    keys
        Returns what the run's keys are read with: see `VersionHeader`.
    versions
        Keeps some versions; None: only the newest is kept.
    resumable
        Whether this run continues or repeats the one that published the file that is there, as a
        run on a log does. Otherwise it publishes from its first event.
    about
        Further fields of each `VersionHeader`.

    Raises
    ------
    PublishingError
        When the learner can't be published.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from river import datasets
    >>> from iln_stream import InfiniteLayerRegressor
    >>> from iln_stream.snapshots.follower import Follower
    >>> from iln_stream.snapshots.publisher import Publisher
    >>> model = InfiniteLayerRegressor(profile="fast", seed=1)
    >>> folder = TemporaryDirectory()
    >>> path = Path(folder.name) / "approval.model"
    >>> with Publisher(path, model) as publisher:
    ...     for x, y in datasets.TrumpApproval():
    ...         model.learn_one(x, y)
    ...         publisher.learned()
    >>> follower = Follower(path)  # in another process
    >>> follower.refresh()
    True
    >>> follower.current.header.n_learned
    1001
    >>> follower.current.learner.predict_one(x) == model.predict_one(x)
    True
    >>> folder.cleanup()

    """

    most_steps = MOST_IN_A_ROW

    def __init__(
        self,
        path: Path | str,
        learner: Any,
        *,
        seconds: float = 0.5,
        allow_pickle: bool = False,
        task: str | None = None,
        name: str | None = None,
        champion: Callable[[], tuple[str, Any]] | None = None,
        n_learned: Callable[[], int] | None = None,
        positions: Mapping[StreamPartition, int] | None = None,
        keys: Callable[[], Mapping[str, Any] | None] = lambda: None,
        versions: Versions | None = None,
        resumable: bool = False,
        **about: Any,
    ) -> None:
        if seconds < 0.0:
            raise ValueError(f"seconds = {seconds} must be at least 0")
        self.path = Path(path)
        own_name = name or type(learner).__name__
        self._champion = champion or (lambda: (own_name, learner))
        self._allow_pickle = allow_pickle
        self._capture = Capture(self._champion()[1], allow_pickle)
        self._n_learned, self._keys, self._seconds = n_learned, keys, seconds
        if task is None:
            task = "classification" if isinstance(learner, base.Classifier) else "regression"
        about |= {"task": task, "release": __version__}
        self._about = VersionHeader(0, 0.0, {}, 0, learner=own_name, **about)
        self._positions = dict(positions or {})
        self._versions = versions or Versions(self.path)
        self._file = self._versions.newest
        self._file.remove_partial()
        self._writer = Writer(self._versions)
        self._n = 0  # labelled events seen here
        self._due = perf_counter()
        self._pauses: deque[float] = deque(maxlen=100)
        before = self._before()
        self._version = self._versions.last()
        # On a log, a learner that has learned nothing yet does not replace the one that is there.
        self._unpublished = before is None or not resumable
        self._hold: Mapping[StreamPartition, int] = {}
        if before is not None and resumable and not self._continues(before):
            log.warning(
                "%s was published by a learner of another topic or other settings, as before a "
                "rebuild: it will be replaced. If that learner still runs, give each its folder",
                self.path,
            )
            self._writer.keep()
            self._unpublished = self._n_learned is not None and self._n_learned() > 0
        elif before is not None and resumable:
            self._hold = before.positions
            if not self._held:  # as a rebuild may have learned fewer events
                self._unpublished = n_learned is not None and n_learned() != before.n_learned
            else:
                log.info("%s has version %d: the next one is published when its positions are "
                         "reached", self.path, before.version)  # fmt: skip

    def on_step(self, step: Step) -> None:
        """Publish a version if it is due."""
        self.on_steps([step])

    def on_steps(self, steps: Sequence[Step]) -> None:
        """Publish a version if it is due, of the learner after the last of these steps."""
        for step in steps:
            self._pass(step.origin, step.offset)
            self._unpublished = True
            if step.y is not None:
                self._n += 1
        if steps and steps[-1].ended >= self._due:
            self._publish_if_due()

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """Note the position."""
        self._pass(StreamPartition(letter.stream, letter.partition), letter.offset)

    def on_repeat(self, origin: StreamPartition, offset: int) -> None:
        """Note the position."""
        self._pass(origin, offset)

    def on_command(self, command: Command) -> None:
        """Note the position, and publish the new champion if a version is due."""
        self._pass(StreamPartition(command.stream, command.partition), command.offset)
        self._unpublished = True
        self._publish_if_due()

    def _pass(self, origin: StreamPartition, offset: int) -> None:
        """Note that a record is behind; an expired event is one of an earlier record."""
        self._positions[origin] = max(self._positions.get(origin, 0), offset + 1)

    def on_idle(self) -> None:
        """Publish what is not yet published, if a version is due."""
        self._publish_if_due()

    def learned(self, partition: int = 0, offset: int | None = None) -> None:
        """Note that the learner has learned an event, and publish a version if it is due.

        For a loop of your own; the service's loop calls `on_step`. The position is that of the
        event in its stream; by default, events are counted.
        """
        origin = StreamPartition(self._about.stream, partition)
        begin = self._positions.get(origin, 0)
        self._positions[origin] = (begin if offset is None else offset) + 1
        self._unpublished = True
        self._n += 1
        if perf_counter() >= self._due:
            self._publish_if_due()

    def finish(self) -> None:
        """Publish what is not yet published, whether due or not, and wait until it is written."""
        self._writer.wait()
        if (self._unpublished or self._writer.failed) and not self._held:
            self._publish()
            self._writer.wait()

    def close(self) -> None:
        """Finish writing, and end the thread; what is not yet published is not."""
        self._writer.close()

    def __enter__(self) -> "Publisher":
        """Return the publisher."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        """Publish the rest, unless there was an error, and close."""
        if kind is None:
            self.finish()
        self.close()

    @property
    def _held(self) -> bool:
        """Whether the version that is there has learned more."""
        if any(self._positions.get(p, 0) < offset for p, offset in self._hold.items()):
            return True
        self._hold = {}
        return False

    def _publish_if_due(self) -> None:
        if (
            perf_counter() >= self._due
            and (self._unpublished or self._writer.failed)
            and not self._writer.busy
            and not self._held
        ):
            self._publish()

    def _publish(self) -> None:
        began, published_at = perf_counter(), time()
        try:
            name, learner = self._champion()
            if learner is not self._capture.learner:
                self._capture = Capture(learner, self._allow_pickle)
            copy = self._capture.take()
            n_learned = self._n if self._n_learned is None else self._n_learned()
        except Exception as error:  # whatever the learner raises
            self._writer.failed_with(error)
            self._rest(began)
            return
        self._version = max(self._version, self._version_of_others()) + 1
        header = replace(
            self._about, version=self._version, published_at=published_at, learner=name,
            positions=dict(self._positions), n_learned=n_learned, keys=self._keys(),
        )  # fmt: skip
        self._unpublished = False
        self._writer.write(header, copy)
        self._rest(began)

    def _rest(self, began: float) -> None:
        """Note how long the copy took, and when the next one is due."""
        now = perf_counter()
        self._pauses.append(now - began)
        self._due = max(began + self._seconds, now + _LEAST_REST * (now - began))

    def _before(self) -> VersionHeader | None:
        """Return the header of the version that is there; None if there is none to continue."""
        try:
            return self._file.read_header()
        except FileNotFoundError:
            return None
        except (OSError, SnapshotError) as error:
            log.warning("%s can't be continued: %s; it will be replaced", self.path, error)
            return None

    def _continues(self, before: VersionHeader) -> bool:
        ours = self._about
        same_topic = None in (before.topic_id, ours.topic_id) or before.topic_id == ours.topic_id
        same_stream = before.stream == ours.stream
        return same_topic and same_stream and before.configuration == ours.configuration

    def _version_of_others(self) -> int:
        """Return the version of a file that somebody else put in place of ours; 0 if it is ours."""
        there = self._file.identity()
        if there is None or there == self._writer.identity or self._writer.written is None:
            return 0
        return self._versions.last()

    def metrics(self) -> Sequence[MetricSpec]:
        writer = self._writer
        return (
            MetricSpec(
                "iln_published_timestamp_seconds",
                "gauge",
                "When the learner was copied for the last published version.",
                lambda: None if writer.written is None else writer.written.published_at,
            ),
            MetricSpec(
                "iln_publish_pause_seconds",
                "gauge",
                "Longest time for which learning stopped to copy the learner, of the last 100 "
                "versions.",
                lambda: max(self._pauses.copy(), default=None),
            ),
            MetricSpec(
                "iln_publish_duration_seconds",
                "gauge",
                "Time to write the last version in the background.",
                lambda: writer.seconds,
            ),
            MetricSpec(
                "iln_publish_failures_total",
                "counter",
                "Versions that could not be published or kept: the disk did not take them, or the "
                "learner's state was not finite.",
                lambda: writer.n_failed,
                of_process=True,
            ),
        )
