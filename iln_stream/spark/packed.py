"""A learner's state as the bytes of one value of a state store.

An npz (`iln_stream.state.to_bytes`) takes 0.6 to 1.6 ms for a small learner, most of it for the ZIP
archive; a state store has a checksum of its own and needs none. These bytes take a third of that.
"""

import json
import struct
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import StateError
from iln_stream.state import Block, StateDict, pack, unpack

_HEAD = struct.Struct("<4sII")
"""Mark and version; lengths of the list of arrays and of the text."""

_MARK = b"ILS1"


def packed(state: StateDict, store: Callable[[Block], str] | None = None) -> bytes:
    """Return a state as bytes; equal states have equal bytes.

    Parameters
    ----------
    state
        The state.
    store
        Stores a block elsewhere and returns its name; None: blocks are arrays like others.

    Raises
    ------
    StateError
        When the state holds an unsupported value.

    Examples
    --------
    >>> import numpy as np
    >>> unpacked(packed({"n": 3, "theta": np.zeros(2)}))
    {'n': 3, 'theta': array([0., 0.])}

    """
    arrays, text = pack(state, store)
    listed = json.dumps(
        [(name, array.dtype.str, array.shape, _order(array)) for name, array in arrays.items()]
    ).encode()
    content = text.encode()
    return b"".join(
        (
            _HEAD.pack(_MARK, len(listed), len(content)),
            *(listed, content),
            *(array.tobytes("A") for array in arrays.values()),
        )
    )


def unpacked(data: bytes, load: Callable[[str], NDArray[np.generic]] | None = None) -> StateDict:
    """Return the state from the bytes of `packed`; `load` returns a block by its name.

    Raises
    ------
    StateError
        When the bytes are something else.

    """
    try:
        mark, n_listed, n_content = _HEAD.unpack_from(data)
        if mark != _MARK:
            raise ValueError(f"they begin with {mark!r}, not with {_MARK!r}")
        start = _HEAD.size + n_listed
        listed = json.loads(data[_HEAD.size : start])
        text = data[start : start + n_content].decode()
        start += n_content
        arrays = {}
        for name, dtype, shape, order in listed:
            kind = np.dtype(dtype)
            count = int(np.prod(shape, dtype=np.int64))
            array = np.frombuffer(data, kind, count, start).reshape(shape, order=order)
            arrays[name] = array.copy("K")  # a learner writes into its arrays
            start += count * kind.itemsize
        if start != len(data):
            raise ValueError(f"they have {len(data)} bytes instead of {start}")
    except (KeyError, TypeError, ValueError, struct.error) as error:
        raise StateError(
            f"the learner's bytes in the state store can't be read: {error}"
        ) from error
    return unpack(arrays, text, load)


def _order(array: NDArray[np.generic]) -> str:
    """Return how the array lies in memory: the last bit of a matrix product can depend on it."""
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
