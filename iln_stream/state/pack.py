"""Conversion of a state to arrays and JSON, for storage in files."""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import StateError
from iln_stream.state.block import Block
from iln_stream.state.state_dict import StateDict

_ARRAY, _BLOCK, _FLOAT = "$array", "$block", "$float"
"""A JSON object with only one of these fields is an array, a block that is stored elsewhere, or a
number that JSON lacks."""

TEXT = "json"
"""No array has this path: a file's entry of this name can hold the JSON."""


def pack(
    state: StateDict, store: Callable[[Block], str] | None = None
) -> tuple[dict[str, NDArray[Any]], str]:
    """Return a state's arrays by their paths in it, and the rest as JSON that refers to them.

    The arrays hold numbers only, so `numpy.savez` and `numpy.load(allow_pickle=False)` can store
    them. They are the state's own, not copies.

    Parameters
    ----------
    state
        The state.
    store
        Stores a block elsewhere and returns the name by which the JSON refers to it. None: blocks
        are arrays like others.

    Raises
    ------
    StateError
        When the state holds an unsupported value; the message says where.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.state import pack, unpack
    >>> arrays, text = pack({"n": 3, "f": {"theta": np.zeros(2)}})
    >>> arrays
    {'f/theta': array([0., 0.])}
    >>> text
    '{"n": 3, "f": {"theta": {"$array": "f/theta"}}}'
    >>> unpack(arrays, text)
    {'n': 3, 'f': {'theta': array([0., 0.])}}

    """
    arrays: dict[str, NDArray[Any]] = {}
    return arrays, json.dumps(_packed(state, "", arrays, store), allow_nan=False)


def unpack(
    arrays: Mapping[str, NDArray[Any]],
    text: str,
    load: Callable[[str], NDArray[Any]] | None = None,
) -> StateDict:
    """Return the state from the output of `pack`. Zero-dimensional arrays become numpy scalars.

    Parameters
    ----------
    arrays, text
        What `pack` returned.
    load
        Returns a block by the name that `pack`'s `store` gave it.

    Raises
    ------
    StateError
        When the text is not JSON from `pack`, or refers to other arrays than those given, or to
        blocks and there is no `load`.

    """
    left = dict(arrays)
    try:
        state = _unpacked(json.loads(text, parse_constant=_refuse), left, load)
    except (TypeError, ValueError) as error:
        raise StateError(f"the state's JSON can't be read: {error}") from error
    if not isinstance(state, dict):
        raise StateError(f"the state's JSON is {text[:40]!r}, not an object")
    if left:
        raise StateError(f"the state's JSON does not mention its arrays {', '.join(sorted(left))}")
    return state


def _packed(
    value: Any,
    path: str,
    arrays: dict[str, NDArray[Any]],
    store: Callable[[Block], str] | None,
) -> Any:
    if value is None or isinstance(value, bool | str) or type(value) is int:
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {_FLOAT: str(value)}
    if isinstance(value, Block) and store is not None:
        return {_BLOCK: store(value)}
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise StateError(f"{path} is an array of {array.dtype}: only numbers can be saved")
        arrays[path] = array
        return {_ARRAY: path}
    if isinstance(value, list):
        return [
            _packed(entry, _below(path, str(i)), arrays, store) for i, entry in enumerate(value)
        ]
    if isinstance(value, dict):
        packed = {}
        for key, entry in value.items():
            if not isinstance(key, str):
                raise StateError(f"{path or 'the state'} has the key {key!r}: keys must be strings")
            # A key that begins with a dollar sign gets one more.
            packed["$" + key if key.startswith("$") else key] = _packed(
                entry, _below(path, key), arrays, store
            )
        return packed
    raise StateError(
        f"{path} is {value!r}, a {type(value).__name__}: a state holds None, bool, int, float, "
        "str, arrays, lists and dicts"
    )


def _unpacked(
    value: Any, left: dict[str, NDArray[Any]], load: Callable[[str], NDArray[Any]] | None
) -> Any:
    if isinstance(value, list):
        return [_unpacked(entry, left, load) for entry in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {_ARRAY}:
        path = value[_ARRAY]
        if path not in left:
            raise StateError(f"the state's array {path!r} is missing")
        return left.pop(path)[()]
    if value.keys() == {_BLOCK}:
        if load is None:
            raise StateError("some of the state's arrays are stored in a folder of blocks")
        return load(value[_BLOCK])
    if value.keys() == {_FLOAT}:
        return float(value[_FLOAT])
    return {key.removeprefix("$"): _unpacked(entry, left, load) for key, entry in value.items()}


def _below(path: str, key: str) -> str:
    """The path of a key below `path`, valid as the name of a file's entry."""
    part = quote(key, safe="", errors="surrogatepass") or "%"
    if path:
        return f"{path}/{part}"
    return f"%{part}" if part == TEXT else part


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
