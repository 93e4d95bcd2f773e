"""A key's state: one row of numbers, and the bytes in which it is stored or sent."""

import math
import struct
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import StateError
from iln_stream.keyed.loops import key_model

Row = NDArray[np.float64]

VERSION = 1
"""Of the bytes; raise it with every change of the row's layout."""

_HEAD = struct.Struct("<4sBBH")
_MAGIC = b"ilnk"

DEFAULT_SLOPES = 12


def new_row(slopes: int = DEFAULT_SLOPES) -> Row:
    """Return the state of a key without events.

    Parameters
    ----------
    slopes
        The most inputs that have a slope of the key's own.

    """
    return np.zeros(key_model().row_size(slopes + 1))


def key_state_to_bytes(row: Row) -> bytes:
    """Return a key's state as bytes: 8 of a head, and the numbers up to the last that is not 0.

    At 12 slopes these are at most 968 bytes. Equal states give equal bytes.

    Examples
    --------
    >>> from iln_stream.keyed import key_state_from_bytes, key_state_to_bytes, new_row
    >>> row = new_row()
    >>> row[0] = 1.0
    >>> data = key_state_to_bytes(row)
    >>> len(data), (key_state_from_bytes(data) == row).all()
    (16, np.True_)

    """
    (data,) = key_states_to_bytes([row])
    return data


def key_states_to_bytes(rows: Sequence[Row]) -> list[bytes]:
    """Return the bytes of each of several states: many at once take a third of the time.

    Parameters
    ----------
    rows
        States of the same number of slopes.

    """
    if not rows:
        return []
    size = len(rows[0])
    joined = np.concatenate(rows).astype("<f8", copy=False)
    # Not by comparison with 0.0, which -0.0 equals.
    used = joined.view("<i8").reshape(-1, size)[:, ::-1] != 0
    ends = np.where(used.any(axis=1), size - used.argmax(axis=1), 0).tolist()
    heads = {n: _HEAD.pack(_MAGIC, VERSION, slopes_of(size), n) for n in set(ends)}
    data, whole = joined.tobytes(), 8 * size
    return [
        heads[n] + data[start : start + 8 * n]
        for n, start in zip(ends, range(0, len(data), whole), strict=True)
    ]


def key_state_from_bytes(data: bytes) -> Row:
    """Return the state that `key_state_to_bytes` gave the bytes of.

    Raises
    ------
    StateError
        When they are something else, or of another version.

    """
    if len(data) < _HEAD.size or data[:4] != _MAGIC:
        raise StateError("these bytes are not the state of a key")
    _, version, slopes, n = _HEAD.unpack_from(data)
    if version != VERSION:
        raise StateError(
            f"the state of a key has version {version}, and this release reads {VERSION}: use the "
            "release that wrote it"
        )
    row = new_row(slopes)
    if n > len(row) or len(data) != _HEAD.size + 8 * n:
        raise StateError("the state of a key is cut off, or longer than it says")
    row[:n] = np.frombuffer(data, "<f8", n, _HEAD.size)
    return row


@cache
def slopes_of(size: int) -> int:
    """Return the number of slopes for which a row of this size has room."""
    rest = size - key_model().ROW_HEAD
    return (math.isqrt(9 + 8 * rest) - 3) // 2 - 1
