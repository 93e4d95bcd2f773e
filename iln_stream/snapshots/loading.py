"""From a path to the learner that is saved there, and `iln_stream.save`."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from iln_stream.errors import SnapshotError, StateError
from iln_stream.files import open_stored, read_stored, write_whole
from iln_stream.learners import model_of, state_of
from iln_stream.learners.introspection import find_keyed
from iln_stream.learners.keyed import KEYS_FILE, HasKeys, KeyFile, KeysElsewhere, KeysToRead
from iln_stream.snapshots.file import CorruptSnapshotError, Snapshot
from iln_stream.snapshots.folder import SnapshotFolder, read_snapshot
from iln_stream.snapshots.learner import learner_of
from iln_stream.state import from_bytes, to_bytes

_MAGIC = b"PK"
"""First bytes of a ZIP archive."""


def save(model: Any, path: Path | str) -> None:
    """Write a model to a file, from which `iln_stream.load` returns it.

    The file has the model's state as numpy arrays (npz), and no pickle: later releases read it, and
    reading it runs no code. A file that exists is replaced once the new one is complete.

    Parameters
    ----------
    model
        One of our learners, or a River pipeline of our learners and transformers.
    path
        The file.

    Raises
    ------
    StateError
        When the model, or a step of the pipeline, has no state that can be saved.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import iln_stream
    >>> model = iln_stream.InfiniteLayerRegressor("fast", seed=1)
    >>> model.learn_one({"a": 1.0}, 2.0)
    >>> with TemporaryDirectory() as folder:
    ...     iln_stream.save(model, Path(folder) / "model.npz")
    ...     loaded = iln_stream.load(Path(folder) / "model.npz")
    >>> loaded.predict_one({"a": 0.5}) == model.predict_one({"a": 0.5})
    True

    """
    content = to_bytes(state_of(model))
    write_whole(Path(path), lambda file: file.write(content), durably=False)


def load(path: Path | str, *, allow_pickle: bool = False) -> Any:
    """Return the learner that a run or `iln_stream.save` has saved.

    It predicts, and may learn more. Nothing is locked or written: the run may continue, and neither
    affects the other.

    Parameters
    ----------
    path
        A file of `save`, a snapshot, or the folder of one learner's snapshots, of which the newest
        readable one is taken. A folder that holds just one such folder stands for it.
    allow_pickle
        Whether to read a learner that was saved as a pickle. That runs code: only if nobody else
        could write to the file.

    Returns
    -------
    learner
        As it was saved: it predicts the same to the last bit.

    Raises
    ------
    SnapshotError
        When there is no snapshot, or none that can be read, or `path` holds several learners.
    StateError
        When a file of `save` can't be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import iln_stream
    >>> from iln_stream.snapshots import Header, Snapshot, SnapshotFolder, learner_state
    >>> model = iln_stream.InfiniteLayerRegressor(profile="fast", seed=1)
    >>> model.learn_one({"a": 1.0}, 2.0)
    >>> header = Header("events", {0: 1}, None, 1, 1, {}, seed=1, saved_at="2026-01-31T12:00:00Z")
    >>> with TemporaryDirectory() as name:  # as `iln-stream run --snapshots` does
    ...     folder = SnapshotFolder(Path(name))
    ...     state = {"learner": learner_state(model, allow_pickle=False)}
    ...     n_bytes = folder.write(Snapshot(header, state))
    ...     loaded = iln_stream.load(name)
    >>> loaded.predict_one({"a": 0.5}) == model.predict_one({"a": 0.5})
    True

    """
    path, is_of_save = Path(path), False
    with suppress(OSError), open_stored(path) as file:  # else `learner_at` says what is wrong
        is_of_save = file.read(len(_MAGIC)) == _MAGIC
    if not is_of_save:
        return learner_at(path, allow_pickle)[0]
    try:
        return model_of(from_bytes(read_stored(path)))
    except StateError as error:
        raise StateError(f"{path}: {error}") from error


def learner_at(path: Path, allow_pickle: bool) -> tuple[Any, Snapshot, Path]:
    """Return the learner of `load`, its snapshot and the folder.

    Raises
    ------
    SnapshotError
        As of `load`, and when the states of its keys are not there.

    """
    snapshot, folder = _snapshot_in(path)
    learner = learner_of(snapshot.state["learner"], allow_pickle)
    if (keyed := find_keyed(learner)) is not None:
        read_keys({KEYS_FILE: keyed}, folder)
    return learner, snapshot, folder


def read_keys(owners: Mapping[str, HasKeys], folder: Path) -> None:
    """Let each owner read its keys in the file of this name, if its snapshot has them there.

    Raises
    ------
    SnapshotError
        When they are not there.

    """
    for name, owner in owners.items():
        if isinstance(keys := owner.keys, KeysElsewhere):
            try:
                found = KeysToRead(KeyFile(folder / name), keys.stored, owner.size)
            except StateError as error:
                raise SnapshotError(str(error)) from error
            owner.keep_keys_in(found)


def snapshot_at(path: Path) -> Snapshot:
    """Return the snapshot in a file, or the newest readable one of one learner's folder.

    Raises
    ------
    SnapshotError
        As of `load`.

    """
    return _snapshot_in(path)[0]


def _snapshot_in(path: Path) -> tuple[Snapshot, Path]:
    if path.is_file():
        try:
            return read_snapshot(path), path.parent
        except CorruptSnapshotError as error:
            raise CorruptSnapshotError(
                f"{error}; name a file *.snapshot that `iln-stream run --snapshots FOLDER` wrote, "
                "or its folder"
            ) from error
    if any(path.glob("*.snapshot")):
        folders = [path]
    else:
        folders = sorted({file.parent for file in path.glob("*/*.snapshot")})
    if len(folders) > 1:
        raise SnapshotError(
            f"{path} holds the snapshots of several learners: name one of "
            + ", ".join(map(str, folders))
        )
    found = _newest(SnapshotFolder(folders[0])) if folders else None
    if found is None:
        raise SnapshotError(
            f"there is no snapshot in {path}: name a snapshot, or the folder of one learner's"
        )
    return found, folders[0]


def _newest(folder: SnapshotFolder) -> Snapshot | None:
    """Return the newest snapshot, also while a run replaces old ones by new ones."""
    while True:
        places = folder.places()
        try:
            return folder.newest()
        except SnapshotError:
            if folder.places() == places:
                raise
