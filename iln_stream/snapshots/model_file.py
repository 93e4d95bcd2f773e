"""A model's state alone in a file: what `iln_stream.save` writes and `iln_stream.load` reads."""

import os
from pathlib import Path
from typing import Any

from iln_stream.errors import StateError
from iln_stream.learners import model_of, state_of
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
        One of our learners, or a River pipeline of our learners and transformers that have a state.
        `RecordInputs` learns nothing and has none: save the learner behind it.
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
    path = Path(path)
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def is_model_file(path: Path) -> bool:
    """Return whether a file looks like one that `save` wrote."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def model_in(path: Path) -> Any:
    """Return the model in a file that `save` wrote.

    Raises
    ------
    StateError
        When the file is damaged or another one, or its model of a release that is not read.

    """
    try:
        return model_of(from_bytes(path.read_bytes()))
    except StateError as error:
        raise StateError(f"{path}: {error}") from error
