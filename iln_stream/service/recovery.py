"""What a learner is restored from, and where its progress is kept."""

import datetime as dt
import logging
import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from iln_stream.errors import IlnWarning, RefusedError, SnapshotError
from iln_stream.service.readers import Reader
from iln_stream.service.settings import Settings
from iln_stream.service.wiring import build_learner
from iln_stream.snapshots import (
    Checkpoint,
    Header,
    Positions,
    Saver,
    Snapshot,
    SnapshotFolder,
    learner_of,
    learner_state,
    versions,
)
from iln_stream.state import Tree
from iln_stream.streams import (
    Journal,
    Log,
    Resume,
    Scheme,
    Sequencer,
    Start,
    after,
    read_journal,
)

log = logging.getLogger(__name__)

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
        Begin anew whatever the snapshots say.

    Raises
    ------
    SnapshotError
        When the folder is in use or can't be written to, no snapshot in it can be read, or the
        newest is of another configuration.

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
            self._snapshot = None if forget else self._folder.newest()
            if self._snapshot is not None:
                self._check(self._snapshot.header)
            elif not forget and len(reader.partitions) > 1:
                self._snapshot = self._of_one_partition()
            self._epoch = self._folder.claim_epoch()
            undo.pop_all()
        self._journal: Journal | None = None
        # Oldest first: what might have to be fallen back on.
        self._kept: deque[Positions] = deque(maxlen=settings.snapshot_keep)

    @property
    def header(self) -> Header | None:
        """Of the snapshot that the run goes on from; None: it begins anew."""
        return None if self._snapshot is None else self._snapshot.header

    @property
    def reached(self) -> Positions:
        """The furthest positions of all snapshots, also of those that can't be gone on from.

        Raises
        ------
        SnapshotError
            When there is none.

        """
        if not (places := self._folder.places()):
            raise SnapshotError(
                f"snapshots: there is none in {self._folder.path}; `iln-stream run` begins anew"
            )
        furthest = max(places, key=lambda place: place.next_offset)
        if len(self._reader.partitions) == 1:
            return {self._reader.partitions[0]: furthest.next_offset}
        return self._folder.read(furthest).header.positions

    def is_of_another_topic(self, topic_id: str | None) -> bool:
        """Tell whether the newest readable snapshot is of a topic that has another id."""
        for place in self._folder.places():
            with suppress(SnapshotError):
                known = self._folder.read(place).header.topic_id
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
        journals = sorted(self._folder.path.glob("*.journal"))
        written = read_journal(journals[-1]) if journals and self._folder.places() else []
        for place in reversed(self._folder.places()):
            with suppress(SnapshotError):
                self._kept.append(self._folder.read(place).header.positions)
        needed = after(written, self._kept[0] if self._kept else {})
        path = self._folder.path / f"{self._epoch:06}.journal"
        self._journal = Journal(path, needed)
        for old in journals:
            old.unlink(missing_ok=True)
        return Sequencer(inputs, self._journal, after(needed, self._positions))

    def learner(self) -> Any:
        """Return the learner as it was, or a new one."""
        if self._snapshot is None:
            return build_learner(self._settings, self._reader.seed)
        return learner_of(self._snapshot.state["learner"], self._settings.snapshot_pickle)

    def part(self, name: str) -> Tree | None:
        """Return the state of another part, None if there is none yet."""
        return None if self._snapshot is None else self._snapshot.state.get(name)

    def checkpoint(
        self,
        source: Log,
        learner: Any,
        parts: Mapping[str, Callable[[], Tree | None]],
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

        saver = Saver(self._folder, flushes, newest=self.header, stored=self._stored)
        checkpoint = Checkpoint(
            saver,
            header,
            {"learner": lambda: learner_state(learner, settings.snapshot_pickle), **parts},
            settings.snapshot_events,
            settings.snapshot_seconds,
            source.positions,
        )
        checkpoint.capture()  # what can't be saved is better refused now than later
        if self._journal is not None and not self._folder.places():
            # The order begins at these positions: without them a restart could not repeat it.
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
        self._folder.unlock()

    @property
    def _positions(self) -> Positions:
        return {} if self.header is None else self.header.positions

    def _stored(self, header: Header) -> None:
        """Let go what is only of use to snapshots that are gone."""
        self._kept.append(header.positions)
        if self._journal is not None:
            self._journal.forget(self._kept[0])

    def _of_one_partition(self) -> Snapshot | None:
        """Return the snapshot of the one partition that was learned so far, if there is one.

        A topic that had one partition and has more now is so gone on with by one learner over all.

        Raises
        ------
        RefusedError
            When several partitions have learners of their own, which can't become one.

        """
        folder = self._folder.path.parent
        names = [f"{self._stream.name}-{p}" for p in self._reader.partitions]
        found = [name for name in names if any((folder / name).glob("*.snapshot"))]
        if len(found) > 1:
            raise RefusedError(
                f"snapshots: {folder} holds learners of single partitions ({', '.join(found)}), "
                "and this run has one learner over all: go on with those with --learner-per "
                "partition, or name their --partitions, or give this run another folder"
            )
        if not found or (snapshot := SnapshotFolder(folder / found[0]).newest()) is None:
            return None
        self._check(snapshot.header)
        log.info("going on from %s with one learner over all partitions", folder / found[0])
        return snapshot

    def _check(self, header: Header) -> None:
        """Refuse what the settings don't go on with; tell what may go on differently."""
        ours = configuration(self._settings)
        here = f"snapshots: {self._folder.path}"
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
