"""What Spark's state store keeps of a key, and how it is written without rewriting all of it."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

from iln_stream.errors import StateError


class Meta(NamedTuple):
    """The small part of a key's state, which is read in each micro-batch.

    Parameters
    ----------
    positions
        The last offset that was learned, by partition, as `packed_positions` writes it.
    n
        Number of records that were learned or became dead letters.
    prior
        Digest of the prior that the learner was born from.
    digest
        Digest of the learner's bytes: it names the state.
    inline
        The learner's bytes if they are few; None: they are in a value of their own.
    n_blocks
        Number of blocks in the list that belong to the state.

    """

    positions: str
    n: int
    prior: bytes
    digest: bytes
    inline: bytes | None
    n_blocks: int


class StoredKey(Protocol):
    """The state store's variables, of one key at a time."""

    def meta(self) -> Meta | None:
        """Return the small part; None: the key is new."""
        ...

    def learner(self) -> bytes:
        """Return the learner's bytes if they are not inline."""
        ...

    def blocks(self) -> Iterable[tuple[str, bytes]]:
        """Return all blocks that were appended, by name."""
        ...

    def write_meta(self, meta: Meta) -> None:
        """Replace the small part."""
        ...

    def write_learner(self, data: bytes) -> None:
        """Replace the learner's bytes."""
        ...

    def append_blocks(self, blocks: Iterable[tuple[str, bytes]]) -> None:
        """Append blocks; those that are there stay as they are."""
        ...

    def replace_blocks(self, blocks: Iterable[tuple[str, bytes]]) -> None:
        """Replace the list of blocks."""
        ...


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
