"""Parts of a learner's state that never change, each appended to the store once."""

import hashlib
import io
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import StateError
from iln_stream.spark.stored import StoredKey
from iln_stream.state import Block

_MOST_UNUSED = 8
"""The list may hold so many blocks that the state no longer needs, and as many as it needs."""


class AppendedBlocks:
    """The blocks of one key's learner: those in the store's list, and those of the state now.

    A learner that keeps many past events divides them into blocks (`iln_stream.state.Block`). A
    block is written once, appended to a list. If more than half of a list is no longer needed, the
    list is written anew; each block causes at most one such rewriting of a block.

    Parameters
    ----------
    stored
        The blocks in the list, by name.

    """

    def __init__(self, stored: dict[str, NDArray[Any]] | None = None, n_stored: int = 0) -> None:
        self.n_stored = n_stored
        self._arrays = stored or {}
        self._names = set(self._arrays)
        self._used: dict[str, Block] = {}

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

    def name(self, block: Block) -> str:
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
