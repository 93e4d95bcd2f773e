"""Restores a learner from its snapshots, and saves new ones."""

import datetime as dt
import logging
import math
import re
import sys
import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from iln_stream.errors import IlnWarning, RefusedError, SnapshotError
from iln_stream.kernels.cpu import BASELINES, VARIABLE, cpu_baseline, pinned
from iln_stream.learners.introspection import find_keyed
from iln_stream.learners.keyed import KEYS_FILE
from iln_stream.loop.forgetting import EVENT
from iln_stream.service.assembly import Assembly
from iln_stream.service.challengers import (
    Changes,
    changes,
    described_change,
    not_compared,
    with_removed,
    without_code,
)
from iln_stream.service.decoding import described
from iln_stream.service.learners import Keys, build_learner, described_contest, options_of
from iln_stream.service.settings import (
    LATE_SETTINGS,
    LearnerSettings,
    LoopSettings,
    Settings,
    unusual,
)
from iln_stream.service.streams import (
    Reader,
    described_labels,
    forgotten_of,
    start_of,
    time_of_records,
)
from iln_stream.snapshots import (
    HISTORY,
    LABELS,
    Checkpoint,
    Header,
    Positions,
    Saver,
    Snapshot,
    SnapshotFolder,
    SnapshotId,
    learner_of,
    learner_state,
    versions,
)
from iln_stream.snapshots.code import code_of, warn_of_edited
from iln_stream.state import StateDict
from iln_stream.streams import (
    Journal,
    Log,
    PartitionRun,
    Record,
    Resume,
    Scheme,
    Sequencer,
    Start,
    StreamPartition,
    after,
    of_stream,
    read_journal,
)

log = logging.getLogger(__name__)


SNAPSHOT_EVENTS = 100_000
"""Most records between two snapshots."""


def _check_order(
    written: Sequence[PartitionRun], resumed: Header, bound: Positions, folder: Path
) -> None:
    """Refuse a journal that ends before the snapshot: it is missing, cut off or an older copy.

    It need not reach the position of a partition: records may have been deleted before it.
    """
    reached = {**bound, **dict(after(written, bound))}
    needed = {p: min(end, resumed.positions.get(p, 0)) for p, end in resumed.ordered.items()}
    if lost := [p for p, end in needed.items() if reached.get(p, 0) < end]:
        raise SnapshotError(
            f"the order in which {lost[0]} was learned up to {needed[lost[0]]} is in no journal in "
            f"{folder}: put back a copy of the whole folder, or learn the log again with "
            "`iln-stream rebuild`"
        )


class ArrivalOrder:
    """The journal of one reader of several partitions, as far back as its snapshots need it.

    Parameters
    ----------
    folder, epoch, keep
        Of the snapshots; the folder is locked.
    resumed, older
        Header of the snapshot from which the run resumes, and its folder, if that is another one,
        whose learner is taken over.
    inputs, time_of
        As in `Sequencer`; each partition is opened where reading resumes.

    """

    def __init__(
        self,
        folder: SnapshotFolder,
        epoch: int,
        resumed: Header | None,
        inputs: Sequence[Log],
        keep: int,
        time_of: Callable[[Record], float | None] | None = None,
        older: SnapshotFolder | None = None,
    ) -> None:
        self._origins = [origin for log in inputs for origin in log.positions]
        self._kept: deque[Positions] = deque(maxlen=keep)
        if resumed is not None:
            for each in reversed((older or folder).places()):
                with suppress(SnapshotError):
                    header = (older or folder).read(each).header
                    topics = {header.topic_id, inputs[0].topic_id}
                    if None in topics or len(topics) == 1:
                        self._kept.append(header.positions)
        journals = sorted((older or folder).path.glob("*.journal"))
        # An older journal precedes a rebuild, which learned in another order and keeps no journal.
        ours = [path for path in journals if resumed and int(path.stem) >= resumed.epoch]
        streams = inputs[0].stream, inputs[-1].stream
        order_id = "" if resumed is None else resumed.order_id
        newest = max(ours, default=folder.path / f"{epoch:06}.journal")
        written = read_journal(newest, streams, order_id)
        if resumed is not None:
            _check_order(written, resumed, self._bound, (older or folder).path)
        needed = after(_within(written, inputs), self._bound)
        self.order_id = order_id or uuid4().hex
        """Of the journal."""
        self._journal = Journal(folder.path / f"{epoch:06}.journal", needed, self.order_id)
        if older is None:
            for old in journals:
                old.unlink(missing_ok=True)
        positions = {} if resumed is None else resumed.positions
        self.source = Sequencer(inputs, self._journal, after(needed, positions), time_of)

    def stored(self, header: Header) -> None:
        """Forget the order that no snapshot needs once this one is stored. Thread-safe."""
        self._kept.append(header.positions)
        self._journal.forget(self._bound)

    @property
    def ends(self) -> Positions:
        """The offset before which the journal has the order of each partition."""
        return dict(self._journal.ends)

    @property
    def _bound(self) -> Positions:
        """Positions before which none of the kept snapshots needs the order."""
        kept = list(self._kept)
        return {p: min((each.get(p, 0) for each in kept), default=0) for p in self._origins}


def _within(runs: Sequence[PartitionRun], inputs: Sequence[Log]) -> list[PartitionRun]:
    """Return the runs that end within the log, which may have lost its end."""
    ends = {
        origin: position + each.lag
        for each in inputs
        if each.lag is not None
        for origin, position in each.positions.items()
    }
    lost = [run for run in runs if run.end > ends.get(run.origin, run.end)]
    if lost:
        log.error(
            "the log lost records that were learned; their order (%s) is dropped",
            ", ".join(f"{run.origin} up to {run.end}" for run in lost[:5]),
        )
    return [run for run in runs if run not in lost]


def predecessor(folder: Path, stream: str, reader: Reader) -> SnapshotFolder | None:
    """Return the snapshots of the learner to take over; None: there is none.

    If a topic grew from one partition to several, the learner of the one partition continues as the
    learner of all. `folder` holds the folders of all readers, and this one has no snapshots.

    Raises
    ------
    RefusedError
        When other readers have learned some of its partitions: a new learner would learn and
        publish those records again.

    """
    if reader.horizon is not None:  # it began with its horizon, and has the name of it
        return None
    others = sorted(
        path
        for path in folder.glob(f"{stream}-*")
        if any(path.glob("*.snapshot")) and _shares(path.name.removeprefix(f"{stream}-"), reader)
    )
    if not others:
        return None
    single = all(path.name.removeprefix(f"{stream}-").isdecimal() for path in others)
    if len(others) == 1 and single and len(reader.partitions) > 1:
        return SnapshotFolder(others[0])
    per = "partition" if single else "topic"
    names = ", ".join(path.name for path in others)
    raise RefusedError(
        f"snapshots: {folder} holds learners of some of these partitions ({names}), and this run "
        f"would learn those records again: resume these learners (--learner-per {per}, or their "
        "--partitions), or choose another folder"
    )


def _shares(name: str, reader: Reader) -> bool:
    """Whether the reader of this name is another one that shares partitions with `reader`."""
    if name == reader.name:
        return False
    if name == "all":
        return True
    if not re.fullmatch(r"\d+(\+\d+)*", name):  # the name of another topic with the same prefix
        return False
    return not set(map(int, name.split("+"))).isdisjoint(reader.partitions)


def configuration(
    settings: LoopSettings,
    horizon: str | None = None,
    history: Mapping[str, Any] | None = None,
    alone: LearnerSettings | None = None,
) -> dict[str, Any]:
    """Return the settings that determine a learner's state, and the history that it learned.

    `alone` is the only learner; None: there may be a contest.
    """
    learner = alone or settings
    # None, too, in snapshots of releases without class weights.
    found: dict[str, Any] = {
        "learner": learner.learner,
        "seed": learner.seed,
        "recent_ids": settings.recent_ids,
        "pending_events": settings.pending_events,
        "learner_options": options_of(learner),
        "class_weights": learner.class_weights or None,
        "fields": described(settings),
    }
    # Only those that are not the default: snapshots of releases without them have no entry.
    found |= unusual(settings, LATE_SETTINGS)
    if (labels := described_labels(settings)) is not None:
        found[LABELS] = labels
    if horizon is not None:
        found["horizon"] = [horizon]
    if settings.forecast != "value":
        found["forecast"] = settings.forecast
    if (forgotten := forgotten_of(settings)) is not None:
        found["forgotten"] = [list(each) for each in forgotten.values if each[0] != EVENT]
    if settings.by_key is not None:
        found["by_key"] = settings.by_key
    if settings.prediction_quantiles:
        found["prediction_quantiles"] = list(settings.prediction_quantiles)
    if alone is None:
        found |= described_contest(settings)
    return found if history is None else {**found, HISTORY: history}


def folder_of(settings: Settings, stream: Scheme, reader: Reader) -> Path:
    """Return the folder of a reader's snapshots."""
    assert settings.snapshots is not None
    return Path(settings.snapshots) / f"{stream.name}-{reader.name}"


class Recovery:
    """A reader's folder of snapshots, locked, and the snapshot from which to resume.

    With `forget` the learner starts over in spite of the snapshots.

    Raises
    ------
    SnapshotError
        When the folder is in use, can't be written to, or holds only unreadable snapshots.
    RefusedError
        When the newest snapshot has another configuration or topic, or other learners learned
        some of the partitions.
    """

    def __init__(
        self, settings: Settings, stream: Scheme, reader: Reader, forget: bool = False
    ) -> None:
        self._settings = settings
        self._stream = stream
        self._reader = reader
        self.folder = SnapshotFolder(folder_of(settings, stream, reader), settings.snapshot_keep)
        with ExitStack() as undo:
            self.folder.lock()
            undo.callback(self.folder.unlock)
            # Once: what others forget later, this run does not leave out.
            self._configuration = configuration(settings, reader.horizon)
            self._code = code_of(self._configuration)
            # Resume from our own folder, or from that of the learner we take over.
            self._from = self.folder
            if not self.folder.places():
                older = predecessor(self.folder.path.parent, stream.name, reader)
                if older is not None:
                    older.lock()
                    undo.callback(older.unlock)
                    self._from = older
            forgotten = forgotten_of(settings)
            ours = {self.folder.path.name, self._from.path.name}
            if not forget and forgotten is not None and ours & forgotten.unfinished:
                raise RefusedError(
                    "`iln-stream rebuild --forget` was interrupted: complete it first, with "
                    "`iln-stream rebuild`"
                )
            self._forget = forget
            self._snapshot = None if forget else self._from.newest()
            if self._snapshot is not None:
                header = self._snapshot.header
                check_header(header, self._configuration, stream, reader, self._from.path)
                warn_of_edited(header.code, self._code, f"snapshots: {self._from.path}")
            self._epoch = self.folder.claim_epoch()
            by_key = "aggregates" if settings.aggregates else "by_key" if settings.by_key else None
            if by_key is not None and self._from is not self.folder:
                raise RefusedError(
                    f"{by_key}: {self._from.path} holds the keys of one partition, and this run "
                    "reads several: set --partitions as before, or learn the log again with "
                    "`iln-stream rebuild` in another folder"
                )
            self._keys = Keys(
                self.folder.path, self._epoch, settings.keys_in_memory, settings.snapshot_keep
            )
            undo.callback(self._keys.close)
            self._locked = undo.pop_all()
        self._order: ArrivalOrder | None = None
        # describes the files that were learned before the log, for the snapshots to come; None:
        # none were learned
        self.history = None if self.header is None else history_of(self.header)
        # the offset before which a rebuild has read each partition again, for the snapshots to come
        self.rebuilt: Positions = {} if self.header is None else self.header.rebuilt
        # challengers that the settings have and the snapshot has not, and the other way round
        self.changes = Changes()
        if self.header is not None:
            self.changes = changes(self.header.configuration, settings)

    @property
    def header(self) -> Header | None:
        """Header of the snapshot from which the run resumes; None: it starts over."""
        return None if self._snapshot is None else self._snapshot.header

    @property
    def others(self) -> list[str]:
        """Names of the folders beside this one that have snapshots of other logs."""
        found = {file.parent.name for file in self.folder.path.parent.glob("*/*.snapshot")}
        return sorted(name for name in found if not name.startswith(f"{self._stream.name}-"))

    @property
    def reached(self) -> Positions:
        """The furthest positions of all snapshots, including unreadable ones.

        Raises
        ------
        SnapshotError
            When there is no snapshot.

        """
        if not (places := self._from.places()):
            raise SnapshotError(
                f"snapshots: {self.folder.path} holds none, so that `iln-stream run` starts over"
            )
        headers = {place: found.header for place in places if (found := self._readable(place))}
        if not headers:
            return self._furthest_unread(places)
        newest = next(iter(headers))
        ours = [h for h in headers.values() if h.topic_id == headers[newest].topic_id]
        reached = {p: max(h.positions.get(p, 0) for h in ours) for p in self._reader.origins}
        if len(reached) == 1:  # the file name gives the position
            unread = [p.next_offset for p in places if p not in headers and p > newest]
            ((origin, offset),) = reached.items()
            reached = {origin: max([offset, *unread])}
        return reached

    def _readable(self, place: SnapshotId) -> Snapshot | None:
        try:
            return self._from.read(place)
        except SnapshotError:
            return None

    def _furthest_unread(self, places: Sequence[SnapshotId]) -> Positions:
        """Return the furthest positions of unreadable snapshots: by file name, or by journal."""
        origins = self._reader.origins
        if len(origins) == 1:
            return {origins[0]: max(place.next_offset for place in places)}
        ends: dict[StreamPartition, int] = {}
        for path in sorted(self.folder.path.glob("*.journal")):
            streams = origins[0].stream, origins[-1].stream
            for run in read_journal(path, streams, up_to_damage=True):
                ends[run.origin] = max(run.end, ends.get(run.origin, 0))
        return ends

    @property
    def newest_readable(self) -> Snapshot | None:
        """The newest readable snapshot, also if the run starts over."""
        found = map(self._readable, self._from.places())
        return next((snapshot for snapshot in found if snapshot is not None), None)

    def is_of_another_topic(self, origin: StreamPartition, topic_id: str | None) -> bool:
        """Whether the newest readable snapshot is of a topic with another id."""
        snapshot = self.newest_readable
        known = None if snapshot is None else _topic_id(snapshot.header, origin)
        return None not in (known, topic_id) and known != topic_id

    def start(self, origin: StreamPartition) -> Start | None:
        """Return where to start reading a partition."""
        if (header := self.header) is None:
            return start_of(self._settings, accept_loss=self._reader.accepts_loss)
        if origin not in header.positions:  # the partition is new, and so is each record in it
            return "earliest"
        topic_id = _topic_id(header, origin)
        return Resume(header.positions[origin], topic_id, self._reader.accepts_loss)

    def sequencer(self, inputs: Sequence[Log]) -> Sequencer:
        """Return several partitions as one source, whose order is recorded beside the snapshots."""
        older = None if self._from is self.folder else self._from
        keep = self._settings.snapshot_keep
        time_of = time_of_records(self._settings, self._stream)
        self._order = ArrivalOrder(
            self.folder, self._epoch, self.header, inputs, keep, time_of, older
        )
        return self._order.source

    def learner(self) -> Any:
        """Return the restored learner, without removed challengers, or a new one.

        Challengers that were added take part in it once they are warmed up: see `changes`.
        """
        settings, removed = self._settings, self.changes.removed
        if self._snapshot is None:
            learner = build_learner(settings, self._reader.seed)
        else:
            state = without_code(self._snapshot.state["learner"], removed)
            learner = learner_of(state, settings.snapshot_pickle)
            learner = with_removed(learner, settings, removed, f"snapshots: {self._from.path}")
        if (keyed := find_keyed(learner)) is not None:
            self._keys.give({KEYS_FILE: keyed}, restored=self._snapshot is not None)
        return learner

    def restore(self, assembly: Assembly) -> None:
        """Restore all other parts from the snapshot, if there is one; keys go to their files."""
        if (snapshot := self._snapshot) is not None:
            assembly.restore(snapshot.state.get)
        if assembly.aggregates is not None:
            self._keys.give(assembly.aggregates.by_file, restored=snapshot is not None)

    def checkpoint(
        self,
        source: Log,
        learner: Any,
        parts: Mapping[str, Callable[[], StateDict | None]],
        flushes: Sequence[Callable[[], None]],
        at_the_end: bool = False,
    ) -> Checkpoint:
        """Return the checkpoint, which saves this reader's snapshots, or only a last one.

        `parts` are further states to save, by name, and `flushes` are called before each snapshot.

        Raises
        ------
        SnapshotError
            When the learner can't be saved.

        """
        settings = self._settings
        labels = source.labels if isinstance(source, Sequencer) else None
        history = {} if self.history is None else {HISTORY: self.history}

        def header(positions: Positions) -> Header:
            return Header(
                stream=source.stream,
                positions=positions,
                topic_id=source.topic_id,
                n_partitions=source.n_partitions,
                epoch=self._epoch,
                configuration=self._configuration | history,
                seed=self._reader.seed,
                saved_at=dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds"),
                labels_topic_id=None if labels is None else labels.topic_id,
                rebuilt=self.rebuilt,
                ordered={} if self._order is None else self._order.ends,
                order_id="" if self._order is None else self._order.order_id,
                code=self._code,
            )

        def stored(header: Header) -> None:
            if self._order is not None:
                self._order.stored(header)
            self._keys.stored()

        saver = Saver(self.folder, flushes, newest=self.header, stored=stored)
        checkpoint = Checkpoint(
            saver,
            header,
            {"learner": lambda: learner_state(learner, settings.snapshot_pickle), **parts},
            sys.maxsize if at_the_end else SNAPSHOT_EVENTS,
            math.inf if at_the_end else settings.snapshot_seconds,
            source.positions,
            self._keys.capture,
        )
        checkpoint.capture()  # refuse a learner that can't be saved now rather than later
        if not self.folder.places() and not self._forget:
            # Without a first snapshot and with `start = latest`, a restart would begin elsewhere.
            checkpoint.finish(always=True)
        return checkpoint

    def remove_keys(self) -> None:
        """Remove the files of keys; before the learner opens them."""
        for file in self.folder.path.glob("*.db*"):
            file.unlink()

    def warn_of_new_partitions(self, n_partitions: int) -> None:
        """Warn of new partitions that this reader does not read: keys have moved to them."""
        header = self.header
        reads_all = len(self._reader.partitions) == n_partitions
        if header is None or header.n_partitions >= n_partitions or reads_all:
            return
        warnings.warn(
            f"topic {self._stream.name} has {n_partitions} partitions and had "
            f"{header.n_partitions}: events of one key may have moved to a new partition, and only "
            "those in --partitions are learned",
            IlnWarning,
            stacklevel=2,
        )

    def close(self) -> None:
        """Unlock the folder."""
        self._locked.close()


def check_header(
    header: Header, ours: Mapping[str, Any], stream: Scheme, reader: Reader, folder: Path
) -> None:
    """Refuse a snapshot of other settings; warn if library versions or the CPU differ.

    Raises
    ------
    RefusedError
        When a run of this `configuration` can't resume from it.

    """
    ours = {LABELS: None, **ours}
    here = f"snapshots: {folder}"
    events = of_stream(header.positions, header.stream)
    if header.stream != stream.name or not events.keys() <= set(reader.partitions):
        partitions = ", ".join(map(str, events))
        raise RefusedError(
            f"{here} is a snapshot of topic {header.stream}, partition {partitions}: choose "
            "another folder"
        )
    skipped = (HISTORY, *Settings.removed)  # of earlier releases
    saved = {k: v for k, v in header.configuration.items() if k not in skipped}
    saved, ours = not_compared(saved, ours)
    if differing := [k for k in {**saved, **ours} if saved.get(k) != ours.get(k)]:
        changes = "; ".join(described_change(saved, ours, name) for name in differing)
        raise RefusedError(
            f"{here} was saved with other settings: {changes}. Restore them, or learn the log "
            "again with `iln-stream rebuild`"
        )
    if gone := sorted(header.positions.keys() - set(reader.origins)):
        raise RefusedError(
            f"{here} has read the labels in {', '.join(map(str, gone))}, which this run does "
            "not read: set learner_per as before; or, if the topic of labels was deleted and "
            "recreated, learn the log again with `iln-stream rebuild`"
        )
    if moved := [name for name, was in header.versions.items() if versions().get(name) != was]:
        now = ", ".join(f"{name} {header.versions[name]}" for name in moved)
        warnings.warn(
            f"{here} was saved with {now}: learning continues, but results may differ in the "
            "last bits",
            IlnWarning,
            stacklevel=4,
        )
    if header.cpu_baseline != cpu_baseline():
        warnings.warn(
            f"{here} was saved with CPU baseline {header.cpu_baseline}, and this run has "
            f"{cpu_baseline()}: learning continues, but results may differ in the last bits. "
            f"{_remedy(header.cpu_baseline)}",
            IlnWarning,
            stacklevel=4,
        )


def _remedy(saved: str) -> str:
    """Return what to do about a snapshot of another CPU baseline."""
    if saved in BASELINES:
        return f"Set {VARIABLE}={saved} in the environment"
    if pinned() is None:
        return f"Set {VARIABLE} in the environment, so that all CPUs compute the same bits"
    return "To have all of the state from this baseline, learn the log again: `iln-stream rebuild`"


def _topic_id(header: Header, origin: StreamPartition) -> str | None:
    return header.topic_id if origin.stream == header.stream else header.labels_topic_id


def history_of(header: Header) -> dict[str, Any] | None:
    """Return the description of the files that were learned before the log; None: there is none."""
    return header.configuration.get(HISTORY)
