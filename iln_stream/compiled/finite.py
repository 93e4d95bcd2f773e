"""Numbers that are not finite, in fast arithmetic, where `isfinite` may be wrong."""

from iln_stream.compiled.jit import compiled

LARGEST_FLOAT = 1.7976931348623157e308
"""A finite number is at most this."""


@compiled
def n_broken(numbers):  # type: ignore[no-untyped-def]
    """How many of the numbers (k,) are not finite."""
    n = 0
    for i in range(numbers.shape[0]):
        n += 0 if abs(numbers[i]) <= LARGEST_FLOAT else 1
    return n
