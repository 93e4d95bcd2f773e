"""Sorting and searching: numba compiles a dozen functions for numpy's."""

from iln_stream.kernels.jit import compiled


@compiled
def sort(values):  # type: ignore[no-untyped-def]
    """Sort values (n,) in place, ascending, by heapsort.

    J. W. J. Williams. Algorithm 232: Heapsort. Communications of the ACM 7(6), 1964.
    """
    n = values.shape[0]
    # The first n // 2 rounds make a heap, the others move its largest value behind it.
    for turn in range(n // 2 + n - 1):
        last, at = n - 1, n // 2 - 1 - turn
        if at < 0:
            last, at = n - 2 + (at + 1), 0
            values[0], values[last + 1] = values[last + 1], values[0]
        value = values[at]
        while 2 * at + 1 <= last:
            child = 2 * at + 1
            if child < last and values[child + 1] > values[child]:
                child += 1
            if values[child] <= value:
                break
            values[at] = values[child]
            at = child
        values[at] = value


@compiled
def first_at_least(keys, n, key):  # type: ignore[no-untyped-def]
    """Index of the first of n ascending keys that is at least `key`; n if there is none."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low
