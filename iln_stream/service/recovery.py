"""What a learner is restored from, and where its progress is kept."""

import datetime as dt
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from iln_stream.errors import IlnWarning, RefusedError, SnapshotError
from iln_stream.service.order import KeptOrder
from iln_stream.service.readers import Reader
from iln_stream.service.settings import Settings
from iln_stream.service.succession import predecessor
from iln_stream.service.wiring import build_learner
from iln_stream.snapshots import (
    Checkpoint,
    Header,
    Positions,
    Saver,
    SnapshotFolder,
    SnapshotId,
    learner_of,
    learner_state,
    versions,
)
from iln_stream.state import StateDict
from iln_stream.streams import (
    Log,
    Resume,
    Scheme,
    Sequencer,
    Start,
    read_journal,
)

CONFIGURATION = ("learner", "learner_options", "seed", "recent_ids", "pending_events")
"""The settings that a learner's state is a function of, beside the log."""


def configuration(settings: Settings) -> dict[str, Any]:
    """Return the settings that a learner's state is a function of."""
    return {name: getattr(settings, name) for name in CONFIGURATION}


class Recovery:
    """A reader's folder of snapshots, locked, and what the newest one says.

    Parameters
    ----------
    settings
        Of the run.
    stream
        What is read.
    reader
        Which of its partitions.
    forget
        Start over whatever the snapshots say.

    Raises
    ------
    SnapshotError
        When the folder is in use or can't be written to, or no snapshot in it can be read.
    RefusedError
        When the newest is of another configuration or topic, or others learned these partitions.

    """

    def __init__(
        self, settings: Settings, stream: Scheme, reader: Reader, forget: bool = False
    ) -> None:
        assert settings.snapshots is not None
        self._settings = settings
        self._stream = stream
        self._reader = reader
        path = Path(settings.snapshots) / f"{stream.name}-{reader.name}"
        self._folder = SnapshotFolder(path, settings.snapshot_keep)
        with ExitStack() as undo:
            self._folder.lock()
            undo.callback(self._folder.unlock)
            # Where to resume from: our own folder, or that of the reader that we take over from.
            self._from = self._folder
            if not self._folder.places():
                older = predecessor(path.parent, stream.name, reader)
                if older is not None:
                    older.lock()
                    undo.callback(older.unlock)
                    self._from = older
            self._forget = forget
            self._snapshot = None if forget else self._from.newest()
            if self._snapshot is not None:
                self._check(self._snapshot.header)
            self._epoch = self._folder.claim_epoch()
            self._locked = undo.pop_all()
        self._order: KeptOrder | None = None

    @property
    def header(self) -> Header | None:
        """Of the snapshot that the run resumes from; None: it starts over."""
        return None if self._snapshot is None else self._snapshot.header

    @property
    def reached(self) -> Positions:
        """The furthest positions of all snapshots, also of those that can't be resumed from.

        Raises
        ------
        SnapshotError
            When there is none.

        """
        if not (places := self._from.places()):
            raise SnapshotError(
                f"snapshots: there is none in {self._folder.path}; `iln-stream run` begins anew"
            )
        headers = {place: header for place in places if (header := self._readable(place))}
        if not headers:
            return self._furthest_unread(places)
        newest = next(iter(headers))
        ours = [h for h in headers.values() if h.topic_id == headers[newest].topic_id]
        reached = {p: max(h.positions.get(p, 0) for h in ours) for p in self._reader.partitions}
        if len(reached) == 1:  # a name alone says how far it was
            unread = [p.next_offset for p in places if p not in headers and p > newest]
            ((partition, offset),) = reached.items()
            reached = {partition: max([offset, *unread])}
        return reached

    def _readable(self, place: SnapshotId) -> Header | None:
        try:
            return self._from.read(place).header
        except SnapshotError:
            return None

    def _furthest_unread(self, places: Sequence[SnapshotId]) -> Positions:
        """Return how far snapshots had come that can't be read, by their names and the journal."""
        if len(self._reader.partitions) == 1:
            furthest = max(place.next_offset for place in places)
            return {self._reader.partitions[0]: furthest}
        ends: dict[int, int] = {}
        for path in sorted(self._folder.path.glob("*.journal")):
            for run in read_journal(path):
                ends[run.partition] = max(run.end, ends.get(run.partition, 0))
        return ends

    def is_of_another_topic(self, topic_id: str | None) -> bool:
        """Tell whether the newest readable snapshot is of a topic that has another id."""
        for place in self._from.places():
            if (header := self._readable(place)) is not None:
                known = header.topic_id
                return None not in (known, topic_id) and known != topic_id
        return False

    def start(self, partition: int) -> Start | None:
        """Return where to begin to read a partition."""
        if (header := self.header) is None:
            return self._settings.start
        if partition not in header.positions:  # it was added later: all in it is new
            return "earliest"
        return Resume(header.positions[partition], header.topic_id, self._settings.accept_loss)

    def in_order(self, inputs: Sequence[Log]) -> Sequencer:
        """Return several partitions as one source, whose order is kept beside the snapshots."""
        resumed = self.header if self._from is self._folder else None
        keep = self._settings.snapshot_keep
        self._order = KeptOrder(self._folder, self._epoch, resumed, inputs, keep)
        return self._order.source

    def learner(self) -> Any:
        """Return the learner as it was, or a new one."""
        if self._snapshot is None:
            return build_learner(self._settings, self._reader.seed)
        return learner_of(self._snapshot.state["learner"], self._settings.snapshot_pickle)

    def part(self, name: str) -> StateDict | None:
        """Return the state of another part, None if there is none yet."""
        return None if self._snapshot is None else self._snapshot.state.get(name)

    def checkpoint(
        self,
        source: Log,
        learner: Any,
        parts: Mapping[str, Callable[[], StateDict | None]],
        flushes: Sequence[Callable[[], None]],
    ) -> Checkpoint:
        """Return what makes the progress of this reader durable.

        Parameters
        ----------
        source
            What the learner reads.
        learner
            Whose state is the part `learner`.
        parts
            What else is kept, by name.
        flushes
            Of the outputs.

        Raises
        ------
        SnapshotError
            When the learner can't be saved.

        """
        settings = self._settings

        def header(positions: Positions) -> Header:
            return Header(
                stream=source.stream,
                positions=positions,
                topic_id=source.topic_id,
                n_partitions=source.n_partitions,
                epoch=self._epoch,
                configuration=configuration(settings),
                seed=self._reader.seed,
                saved_at=dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds"),
            )

        stored = None if self._order is None else self._order.stored
        saver = Saver(self._folder, flushes, newest=self.header, stored=stored)
        checkpoint = Checkpoint(
            saver,
            header,
            {"learner": lambda: learner_state(learner, settings.snapshot_pickle), **parts},
            settings.snapshot_events,
            settings.snapshot_seconds,
            source.positions,
        )
        checkpoint.capture()  # what can't be saved is better refused now than later
        if not self._folder.places() and not self._forget:
            # Without a first snapshot a restart would begin elsewhere, where `start` is `latest`.
            checkpoint.finish(always=True)
        return checkpoint

    def warn_of_new_partitions(self, n_partitions: int) -> None:
        """Warn where partitions came that this reader does not read: their keys have moved."""
        header = self.header
        if header is None or header.n_partitions >= n_partitions:
            return
        if len(self._reader.partitions) == n_partitions:
            return
        warnings.warn(
            f"topic {self._stream.name} has {n_partitions} partitions and had "
            f"{header.n_partitions}: events of one key may now be in another partition, and only "
            "what --partitions names is learned",
            IlnWarning,
            stacklevel=2,
        )

    def close(self) -> None:
        """Let other processes have the folder."""
        self._locked.close()

    def _check(self, header: Header) -> None:
        """Refuse a state of other settings; warn of what may not be identical to the bit."""
        ours = configuration(self._settings)
        here = f"snapshots: {self._from.path}"
        strangers = header.positions.keys() - set(self._reader.partitions)
        if header.stream != self._stream.name or strangers:
            partitions = ", ".join(map(str, header.positions))
            raise RefusedError(
                f"{here} is of topic {header.stream}, partition {partitions}: give this run "
                "another folder"
            )
        if differing := [name for name in ours if header.configuration.get(name) != ours[name]]:
            said = "; ".join(
                f"{name} was {header.configuration.get(name)!r} and is {ours[name]!r}"
                for name in differing
            )
            raise RefusedError(
                f"{here} holds a state of other settings: {said}. Go back to those, or learn again "
                "from the log with `iln-stream rebuild`"
            )
        if moved := [name for name, was in header.versions.items() if versions().get(name) != was]:
            now = ", ".join(f"{name} {header.versions[name]}" for name in moved)
            warnings.warn(
                f"{here} was written with {now}: learning goes on, but perhaps not as it would "
                "have to the last bit",
                IlnWarning,
                stacklevel=4,
            )
