"""What Spark's state store keeps of a key, and how it is written.

An npz (`iln_stream.state.to_bytes`) takes 0.6 to 1.6 ms for a small learner, most of it for the ZIP
archive; a state store has a checksum of its own and needs none. These bytes take a third of that.
"""

import hashlib
import io
import json
import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import StateError
from iln_stream.state import ArrayBlock, StateDict, pack, unpack

_HEAD = struct.Struct("<4sII")
"""Mark and version; lengths of the list of arrays and of the text."""

_MARK = b"ILS1"


def packed(state: StateDict, store: Callable[[ArrayBlock], str] | None = None) -> bytes:
    """Return a state as bytes; equal states have equal bytes.

    `store` stores a block elsewhere and returns its name; None: blocks are arrays like others.

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


class Meta(NamedTuple):
    """The small part of a key's state, which is read in each micro-batch."""

    # the last offset that was learned, by partition, as `packed_positions` writes it
    positions: str
    n: int  # number of records that were learned or became dead letters
    prior: bytes  # digest of the prior that the learner was born from
    digest: bytes  # digest of the learner's bytes: it names the state
    # the learner's bytes if they are few; None: they are in a value of their own
    inline: bytes | None
    n_blocks: int  # number of blocks in the list that belong to the state


class StoredKey(Protocol):
    """The state store's variables, of one key at a time."""

    def meta(self) -> Meta | None:
        """Return the small part; None: the key is new."""

    def learner(self) -> bytes:
        """Return the learner's bytes if they are not inline."""

    def blocks(self) -> Iterable[tuple[str, bytes]]:
        """Return all blocks that were appended, by name."""

    def write_meta(self, meta: Meta) -> None:
        """Replace the small part."""

    def write_learner(self, data: bytes) -> None:
        """Replace the learner's bytes."""

    def append_blocks(self, blocks: Iterable[tuple[str, bytes]]) -> None:
        """Append blocks; those that are there stay as they are."""

    def replace_blocks(self, blocks: Iterable[tuple[str, bytes]]) -> None:
        """Replace the list of blocks."""


def packed_positions(positions: Mapping[int, int]) -> str:
    """Return positions as text: one `partition:offset` each, in order.

    >>> packed_positions({1: 7, 0: 41})
    '0:41 1:7'
    """
    return " ".join(f"{partition}:{offset}" for partition, offset in sorted(positions.items()))


def unpacked_positions(text: str) -> dict[int, int]:
    """Return the positions from the text of `packed_positions`.

    >>> unpacked_positions("0:41 1:7")
    {0: 41, 1: 7}
    """
    try:
        pairs = (part.split(":") for part in text.split())
        return {int(partition): int(offset) for partition, offset in pairs}
    except ValueError as error:
        raise StateError(f"the positions {text!r} in the state store can't be read") from error


_MOST_UNUSED = 8
"""The list may hold so many blocks that the state no longer needs, and as many as it needs."""


class AppendedBlocks:
    """The blocks of one key's learner: those in the store's list, and those of the state now.

    A learner that keeps many past events divides them into blocks (`iln_stream.state.Block`). A
    block is written once, appended to a list. If more than half of a list is no longer needed, the
    list is written anew; each block causes at most one such rewriting of a block. `stored` has
    those in the list, by name.
    """

    def __init__(self, stored: dict[str, NDArray[Any]] | None = None, n_stored: int = 0) -> None:
        self.n_stored = n_stored
        self._arrays = stored or {}
        self._names = set(self._arrays)
        self._used: dict[str, ArrayBlock] = {}

    @classmethod
    def read(cls, listed: Iterable[tuple[str, bytes]]) -> "AppendedBlocks":
        """Return the blocks of a list in the store."""
        found = list(listed)
        return cls({name: _unpacked(name, data) for name, data in found}, len(found))

    def array(self, name: str) -> NDArray[Any]:
        """Return a block's values; raise StateError if the list lacks it."""
        if name not in self._arrays:
            raise StateError(f"the state store's list of blocks lacks {name}")
        return self._arrays[name]

    def name(self, block: ArrayBlock) -> str:
        """Return a block's name, and note that the state has the block."""
        if block.stored_as is None:
            data = _packed(block)
            name = hashlib.blake2b(data, digest_size=16).hexdigest()
            block.stored_as = name, len(data)
        name, _ = block.stored_as
        self._used[name] = block
        return name

    def write(self, stored: StoredKey) -> None:
        """Write the blocks that were named since the last call, if the list lacks them."""
        used, self._used, self._arrays = self._used, {}, {}
        new = {name: block for name, block in used.items() if name not in self._names}
        if self.n_stored + len(new) > 2 * len(used) + _MOST_UNUSED:
            stored.replace_blocks([(name, _packed(block)) for name, block in used.items()])
            self._names, self.n_stored = set(used), len(used)
        elif new:
            stored.append_blocks([(name, _packed(block)) for name, block in new.items()])
            self._names |= new.keys()
            self.n_stored += len(new)


def _packed(block: NDArray[Any]) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(block), allow_pickle=False)
    return file.getvalue()


def _unpacked(name: str, data: bytes) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except (EOFError, ValueError) as error:
        raise StateError(f"block {name} in the state store can't be read: {error}") from error
    return array
