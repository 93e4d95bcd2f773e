"""Reads the newest published version, in any process."""

import logging
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import time
from typing import Any

from iln_stream.errors import PublishingError, SnapshotError, StateError
from iln_stream.learners.introspection import find_keyed
from iln_stream.learners.keyed import (
    KEYS_FILE,
    Aggregates,
    HasKeys,
    KeyFile,
    KeysElsewhere,
    NewestKeys,
)
from iln_stream.records.mapped import MappedDecoder
from iln_stream.snapshots.learner import is_pickle
from iln_stream.snapshots.published_file import Identity, Version, VersionHeader
from iln_stream.snapshots.publisher import learner_of
from iln_stream.snapshots.versions import Versions
from iln_stream.streams import StreamPartition

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Published:
    """A version of a learner to predict with."""

    # Predicts as the learner did when it was published, bit for bit. If past events that it would
    # replay were left out, its `learn_one` raises a TypeError.
    learner: Any
    header: VersionHeader  # says what the version is
    # names of inputs that a run makes of earlier records, and who asks has to give
    series_inputs: tuple[str, ...] = ()
    # makes inputs of the earlier events of a key; None: the run has none, or its keys can't be read
    aggregates: Aggregates | None = None
    no_inputs: tuple[str, ...] = ()  # fields that only aggregates need
    # makes inputs of a record as the run does; None: the run reads events
    decode: MappedDecoder | None = None
    as_texts: bool = False  # whether inputs that are texts stay texts
    pinned: bool = False  # whether it predicts because it is pinned, and not as the newest one

    @property
    def keys_age(self) -> float | None:
        """Seconds since the oldest file of keys was written; None: there is none."""
        files = {} if self.aggregates is None else self.aggregates.by_file
        stores = [getattr(owner, "keys", None) for owner in (self.learner, *files.values())]
        written = [store.written_at for store in stores if isinstance(store, NewestKeys)]
        return max(0.0, time() - min(written)) if written else None


class Follower:
    """Has the newest version of a file that a `Publisher` writes, or the one that is pinned.

    Call `refresh` from time to time: it costs a few microseconds if there is nothing new. Any
    thread may use it. A version that was current stays usable.

    Parameters
    ----------
    path
        The file, usually `FOLDER/NAME.model`.
    allow_pickle
        Whether to read a learner that was published as a pickle. That runs code: only if nobody
        else can write to the folder.
    pin
        Number of the kept version to predict with; None: the one pinned in the folder, if any.
    """

    def __init__(
        self, path: Path | str, allow_pickle: bool = False, pin: int | None = None
    ) -> None:
        self.path = Path(path)
        # the newest version that could be read, or the pinned one; None before the first
        self.current: Published | None = None
        self.n_unreadable = 0  # number of versions that were there and could not be read
        # why the last `refresh` found no version that can be read, and what to do; None: it did
        self.problem: str | None = f"{self.path} was not read yet: call refresh"
        self._allow_pickle = allow_pickle
        self._versions, self._pin = Versions(self.path), pin
        # what the learner has learned by the newest version, also while another one is pinned
        self.reached: Mapping[StreamPartition, int] = {}
        self._seen: Identity | None = None
        self._turn = threading.Lock()
        self._warned = False
        self._key_files: dict[tuple[Path, int], KeyFile] = {}  # by path and inode

    def refresh(self) -> bool:
        """Read the file if it is another one than before; return whether `current` is new.

        A file that can't be read leaves `current` as it is, and sets `problem`.
        """
        with self._turn:
            try:
                pin = self._versions.pinned() if self._pin is None else self._pin
            except SnapshotError as error:
                return self._failed(None, str(error))
            if pin is not None:
                with suppress(OSError, SnapshotError):
                    self.reached = self._versions.newest.read_header().positions
            file = self._versions.file(pin)
            there = file.identity()
            if there is not None and there == self._seen:
                return False
            try:
                version = file.read()
            except FileNotFoundError:
                self._seen = None
                remedy = (
                    "there is no published version; start the learner with "
                    f"`iln-stream run --publish {self.path.parent}`"
                    if pin is None
                    else self._without(pin)
                )
                self.problem = f"{self.path}: {remedy}"
                return False
            except OSError as error:  # it is read again: the disk may recover
                return self._failed(None, f"it can't be read: {error.strerror}")
            except SnapshotError as error:
                return self._failed(there, str(error))
            try:
                self.current = self._restored(version, pinned=pin is not None)
            except Exception as error:  # a pickle runs the learner's own code
                known = isinstance(error, PublishingError | SnapshotError | StateError)
                why = str(error) if known else f"its learner can't be restored: {error!r}"
                return self._failed(there, why)
            if pin is None:
                self.reached = version.header.positions
            self._seen = version.identity
            self.problem = None
            return True

    def _without(self, pin: int) -> str:
        """Return what to do, as a pinned version is not there."""
        known = ", ".join(map(str, self._versions.kept())) or "none"
        listed = f"iln-stream versions {self.path.parent}"
        unpin = f"lift the pin with `{listed} --unpin`" if self._pin is None else "leave out --pin"
        return f"no version {pin} is kept, but {known}: see `{listed}`; pin another one, or {unpin}"

    def _failed(self, seen: Identity | None, why: str) -> bool:
        """Note why a version can't be used; it is counted once, also if it is read again."""
        problem = f"{self.path}: {why}"
        if seen is not None or problem != self.problem:
            self.n_unreadable += 1
        self._seen, self.problem = seen, problem
        return False

    def _restored(self, version: Version, *, pinned: bool) -> Published:
        header, state, _ = version
        learner = learner_of(state, self._allow_pickle)
        if not is_pickle(state):
            _exercise(learner, header.task)
        found, read = header.keys or {}, header.decoder or {}
        if pinned and find_keyed(learner) is not None:
            why = "its models by key are the newest, so it does not predict as it did"
            log.warning("%s: version %d is pinned: %s", self.path, header.version, why)
        aggregates = self._with_keys(found, learner)
        made = tuple(found.get("names", ())) if aggregates is None else ()
        return Published(
            learner=learner,
            header=header,
            series_inputs=(*header.series_inputs, *made),
            aggregates=aggregates,
            no_inputs=tuple(found.get("no_inputs", ())),
            decode=MappedDecoder.of_description(read, aggregates) if "mapping" in read else None,
            as_texts=read.get("learner_inputs") == "record",
            pinned=pinned,
        )

    def _with_keys(self, found: Mapping[str, Any], learner: Any) -> Aggregates | None:
        """Let learner and aggregates read their keys in the run's files; return the aggregates.

        None: there are none, or their files can't be read here: who asks has to give them.
        """
        folder = self.path.parent / found.get("folder", "")
        if (keyed := find_keyed(learner)) is not None:
            self._read({KEYS_FILE: keyed}, folder)
        if not found.get("aggregates"):
            return None
        made = Aggregates.of_description(found["aggregates"])
        try:
            self._read(made.by_file, folder)
        except StateError as error:
            if not self._warned:
                self._warned = True
                why = f"requests have to give the aggregates: {error}"
                log.warning("%s: %s", self.path, why)
            return None
        return made

    def _read(self, owners: Mapping[str, HasKeys], folder: Path) -> None:
        for name, owner in owners.items():
            if isinstance(keys := owner.keys, KeysElsewhere):
                file = self._key_file(folder / name)
                owner.keep_keys_in(NewestKeys(file, keys.stored, owner.size))

    def _key_file(self, path: Path) -> KeyFile:
        """Return a file of keys, which is checked once, as that takes 4 us for each key."""
        identity = path, path.stat().st_ino if path.exists() else 0
        if identity not in self._key_files:
            self._key_files[identity] = KeyFile(path)
        return self._key_files[identity]


def _exercise(learner: Any, task: str) -> None:
    """Let one of our learners predict, which changes nothing, before anybody asks it to.

    The first prediction of a process loads compiled functions, which takes a second or more.
    """
    if task == "classification":
        learner.predict_proba_one({})
        return
    learner.predict_one({})
    for further in ("predict_interval", "predict_quantiles_one"):
        if hasattr(learner, further):
            getattr(learner, further)({})
