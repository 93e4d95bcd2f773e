"""The hash of an input's name."""

from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

N_CELLS = 1 << 16
"""Cells that hashed names share."""

N_REGISTERS = 1 << 10
"""Registers of the count of distinct names."""


class HashedName(NamedTuple):
    """What the hash of a category's name determines: the same in all processes and releases.

    Parameters
    ----------
    field
        The text before the first "=".
    cell
        Its cell in tables, below `N_CELLS`.
    sign
        1.0 or -1.0, so that names that share a cell tend to cancel each other.
    register, rank
        For `DistinctNames`.

    """

    field: str
    cell: int
    sign: float
    register: int
    rank: int


def field_of(name: Any, value: Any) -> str | None:
    """Return the field of a category, an input named "field=category" of value 1; else None.

    Examples
    --------
    >>> from iln_stream.learners.infinite_layer.categories.hashed_name import field_of
    >>> field_of("sky=clear", 1.0), field_of("wind", 1.0), field_of("a=b", 3.5)
    ('sky', None, None)

    """
    if isinstance(name, str) and "=" in name and value == 1.0:
        return name.partition("=")[0]
    return None


@lru_cache(maxsize=4_096)
def hashed(name: str, field: str) -> HashedName:
    """Return what the hash of a category's name determines."""
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    bits = int.from_bytes(digest, "little")
    rest = bits >> 27
    return HashedName(
        field,
        cell=bits & (N_CELLS - 1),
        sign=1.0 if bits & N_CELLS else -1.0,
        register=(bits >> 17) & (N_REGISTERS - 1),
        rank=38 - rest.bit_length(),
    )
