"""What a lane remembers from one run to the next."""

import datetime as dt
import logging
import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from iln_stream.errors import IlnWarning, RefusedError, SnapshotError
from iln_stream.listeners import Snapshotter, Watched
from iln_stream.prequential import RecentIds
from iln_stream.service.build import build_learner
from iln_stream.service.partitions import seed_of
from iln_stream.service.settings import Settings
from iln_stream.snapshots import (
    Header,
    Saver,
    Snapshot,
    SnapshotFolder,
    learner_of,
    learner_state,
    versions,
)
from iln_stream.streams import Log, Resume, Start, warn_of_new_partitions

log = logging.getLogger(__name__)


def configuration(settings: Settings) -> dict[str, Any]:
    """Return the settings that a learner's state is a function of, beside the log."""
    names = ("learner", "learner_options", "seed", "recent_ids")
    return {name: getattr(settings, name) for name in names}


def snapshot_path(settings: Settings, partition: int) -> Path:
    """Return the folder of one partition's snapshots."""
    if settings.source != "kafka":
        raise SnapshotError("snapshots: only a Kafka source can be gone on with; unset it")
    assert settings.snapshots is not None
    return Path(settings.snapshots) / f"{settings.topic}-{partition}"


class Memory:
    """A partition's folder of snapshots, locked, and what the newest one says.

    Parameters
    ----------
    settings
        Of the run.
    partition
        Of the topic.
    forget
        Begin anew whatever the snapshots say.

    Raises
    ------
    SnapshotError
        When the folder is in use or can't be written to, no snapshot in it can be read, or the
        newest is of another configuration.

    """

    def __init__(self, settings: Settings, partition: int, forget: bool = False) -> None:
        self._settings = settings
        self._partition = partition
        self._folder = SnapshotFolder(snapshot_path(settings, partition), settings.snapshot_keep)
        with ExitStack() as undo:
            self._folder.lock()
            undo.callback(self._folder.unlock)
            self._snapshot = None if forget else self._folder.newest()
            if self._snapshot is not None:
                self._check(self._snapshot.header)
            undo.pop_all()

    @property
    def header(self) -> Header | None:
        """Of the snapshot that the run goes on from; None: it begins anew."""
        return None if self._snapshot is None else self._snapshot.header

    @property
    def reached(self) -> int:
        """The furthest offset of all snapshots, also of those that can't be gone on from.

        Raises
        ------
        SnapshotError
            When there is none.

        """
        if not (places := self._folder.places()):
            raise SnapshotError(
                f"snapshots: there is none in {self._folder.path}; `iln-stream run` begins anew"
            )
        return max(place.next_offset for place in places)

    def is_of_another_topic(self, topic_id: str | None) -> bool:
        """Tell whether the newest readable snapshot is of a topic that has another id."""
        for place in self._folder.places():
            with suppress(SnapshotError):
                known = self._folder.read(place).header.topic_id
                return None not in (known, topic_id) and known != topic_id
        return False

    @property
    def start(self) -> Start | None:
        """Where to begin to read."""
        if (header := self.header) is None:
            return self._settings.start
        return Resume(header.next_offset, header.topic_id, self._settings.accept_loss)

    def learner(self) -> Any:
        """Return the learner as it was, or a newborn one."""
        seed = seed_of(self._settings.seed, self._partition)
        if self._snapshot is None:
            return build_learner(self._settings, seed)
        return learner_of(self._snapshot.state["learner"], self._settings.snapshot_pickle)

    def restore(self, watched: Watched, recent_ids: RecentIds | None) -> None:
        """Let what was counted and remembered be so again."""
        if self._snapshot is None:
            return
        state = self._snapshot.state
        watched.restore(state["counts"])
        if recent_ids is not None:
            recent_ids.restore(state["recent_ids"])

    def snapshotter(
        self,
        learner: Any,
        source: Log,
        watched: Watched,
        recent_ids: RecentIds | None,
        flushes: Sequence[Callable[[], None]],
    ) -> Snapshotter:
        """Return the listener that saves the lane, in an epoch of its own.

        Raises
        ------
        SnapshotError
            When the learner can't be saved.

        """
        settings = self._settings
        epoch = self._folder.claim_epoch()

        def capture(next_offset: int) -> Snapshot:
            header = Header(
                stream=source.stream,
                partition=source.partition,
                topic_id=source.topic_id,
                n_partitions=source.n_partitions,
                next_offset=next_offset,
                epoch=epoch,
                configuration=configuration(settings),
                seed=seed_of(settings.seed, self._partition),
                saved_at=dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds"),
            )
            return Snapshot(
                header,
                {
                    "learner": learner_state(learner, settings.snapshot_pickle),
                    "counts": watched.state(),
                    "recent_ids": None if recent_ids is None else recent_ids.state(),
                },
            )

        capture(0)  # better now than when there is something to lose
        if (header := self.header) and header.n_partitions < source.n_partitions:
            warn_of_new_partitions(source.stream, header.n_partitions, source.n_partitions)
        return Snapshotter(
            capture,
            Saver(self._folder, flushes, newest=self.header),
            settings.snapshot_events,
            settings.snapshot_seconds,
            source.position,
        )

    def close(self) -> None:
        """Let other processes have the folder."""
        self._folder.unlock()

    def _check(self, header: Header) -> None:
        """Refuse what the settings don't go on with; tell what may go on differently."""
        ours = configuration(self._settings)
        here = f"snapshots: {self._folder.path}"
        if (header.stream, header.partition) != (self._settings.topic, self._partition):
            raise RefusedError(
                f"{here} is of topic {header.stream}, partition {header.partition}: give this run "
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
