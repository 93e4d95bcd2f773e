"""Frozen models as files: numbers and JSON in one npz, without a pickle."""

from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from iln_stream.errors import StateError
from iln_stream.state import StateSchema, decode_name, encode_name, from_bytes, to_bytes

_NAMES = {"names", "classes"}
"""Fields that are tuples of names or classes."""

T = TypeVar("T")


def save(model: Any, schema: StateSchema, path: str | Path) -> None:
    """Write the fields of a model, a dataclass."""
    values = {field.name: getattr(model, field.name) for field in fields(model)}
    for field in _NAMES & values.keys():
        values[field] = [encode_name(name) for name in values[field]]
    Path(path).write_bytes(to_bytes(schema.write(**values)))


def load(cls: type[T], schema: StateSchema, path: str | Path, kind: str) -> T:
    """Return the model of this class that `save` wrote; `kind` names it in errors.

    Raises
    ------
    StateError
        When the file was not written by `save`.

    """
    try:
        state = from_bytes(Path(path).read_bytes())
        kept = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        values = dict(zip(kept, schema.read(state, *kept), strict=True))
    except StateError as error:
        raise StateError(f"{path} is not a {kind}'s file: {error}") from error
    for field in _NAMES & values.keys():
        values[field] = tuple(map(decode_name, values[field]))
    return cls(**values)
