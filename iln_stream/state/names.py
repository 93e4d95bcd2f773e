"""River's names of inputs as text and back: any str, int, float, bool, None, and tuples of them."""

import json
import math
from typing import Any

from iln_stream.errors import StateError


def encode_name(name: Any) -> str:
    """Return a name as JSON, in which a tuple is an array.

    Raises
    ------
    StateError
        When the name is of another type, or a number that is not finite.

    Examples
    --------
    >>> from iln_stream.state import decode_name, encode_name
    >>> [encode_name(name) for name in ("a", 1, 1.0, True, None, ("sky", 2))]
    ['"a"', '1', '1.0', 'true', 'null', '["sky", 2]']
    >>> decode_name('["sky", 2]')
    ('sky', 2)

    """
    _require_known(name)
    return json.dumps(name)


def decode_name(text: str) -> Any:
    """Return the name from the text that `encode_name` returned."""
    try:
        return _with_tuples(json.loads(text))
    except (TypeError, ValueError) as error:
        raise StateError(f"{text!r} is not the name of an input: {error}") from error


def _require_known(name: Any) -> None:
    if isinstance(name, tuple):
        for part in name:
            _require_known(part)
    elif isinstance(name, float):
        if not math.isfinite(name):
            raise StateError(f"an input is named {name!r}: use a finite number or a string")
    elif not (name is None or isinstance(name, str | int)):
        raise StateError(
            f"an input is named {name!r}, a {type(name).__name__}: only names that are str, int, "
            "float, bool, None or tuples of these can be saved"
        )


def _with_tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_with_tuples, value))
    if isinstance(value, dict):
        raise ValueError("a name has no fields")
    return value
