"""Damage of SQLite's write-ahead log, behind which SQLite would drop records without an error."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from iln_stream.files import read_stored

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_HEAD, _FRAME_HEAD, _LITTLE_ENDIAN = 32, 24, 0x377F0682
_LARGEST = 256 << 20
"""Bytes of a log that is checked; after a commit it mostly has 16 MB at most."""


def damaged_page(path: Path) -> int | None:
    """Return the number of a damaged page in the write-ahead log of a file; None: there is none.

    SQLite takes the first page whose checksum is wrong for the end, as a crash may have torn the
    last transaction. If a transaction follows one that ends there or later, the former was whole:
    each is synchronised before the next is written. Each page's checksum continues that of the page
    before. The log must not change meanwhile.

    See https://www.sqlite.org/walformat.html.
    """
    try:
        data = read_stored(path.with_name(f"{path.name}-wal"))
    except FileNotFoundError:
        return None
    if not _HEAD < len(data) <= _LARGEST:
        return None
    import numpy as np

    head = np.frombuffer(data, ">u4", 8).astype(np.uint32)
    order = "<u4" if head[0] == _LITTLE_ENDIAN else ">u4"
    known = np.frombuffer(data, order, 6).astype(np.uint32)
    if (_sums(known[None], np.zeros((1, 2), np.uint32))[0] == head[6:]).all():
        return _damaged(data, int(head[2]), order, head)
    sizes = (size for size in (1 << k for k in range(9, 17)))
    found = (_damaged(data, size, each, None) for size in sizes for each in ("<u4", ">u4"))
    return next((number for number in found if number is not None), None)


def _damaged(data: bytes, size: int, order: str, head: "NDArray[np.uint32] | None") -> int | None:
    """Do `damaged_page`'s work for a size of pages; None as head: that is damaged."""
    import numpy as np

    n = (len(data) - _HEAD) // (_FRAME_HEAD + size)
    if not n:
        return None
    frames = np.frombuffer(data, np.uint8, n * (_FRAME_HEAD + size), _HEAD).reshape(n, -1)
    heads = frames[:, :_FRAME_HEAD].copy().view(">u4").astype(np.uint32)
    words = np.hstack([frames[:, :8], frames[:, _FRAME_HEAD:]]).view(order).astype(np.uint32)
    first = heads[0, 2:] if head is None else head[4:]
    ours = (heads[:, 2:4] == first[:2]).all(axis=1)  # not left from before the log was emptied
    before = np.vstack([first[None, 2:], heads[:-1, 4:]])
    follows = ours & (_sums(words, before) == heads[:, 4:]).all(axis=1)
    if head is None:
        follows[0] = False
    end = n if follows.all() else int(follows.argmin())
    whole = ours[end:-1] & (heads[end:-1, 1] > 0) & follows[end + 1 :]
    return end + 1 if whole.any() else None


def _sums(words: "NDArray[np.uint32]", before: "NDArray[np.uint32]") -> "NDArray[np.uint32]":
    """Return the checksums of rows of words (n, 2 k), each of which continues another, (n, 2)."""
    weights, of_before = _weights(words.shape[1] // 2)
    return words @ weights + before @ of_before


@cache
def _weights(n: int) -> "tuple[NDArray[np.uint32], NDArray[np.uint32]]":
    """Return what each of 2 n words, and a checksum before them, adds to the two sums."""
    import numpy as np

    step, weights = np.array([[1, 1], [1, 2]], np.uint32), [np.array([[1, 1], [0, 1]], np.uint32)]
    power = step
    for _ in range(n - 1):
        weights.append(weights[-1] @ step)
        power = power @ step
    return np.vstack(weights[::-1]), power
