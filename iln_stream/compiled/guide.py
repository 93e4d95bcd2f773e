"""Drawing a position with probability ~ |alpha_i|, by a guide table over the prefix sums.

(H.-C. Chen, Y. Asau. On Generating Random Variates from an Empirical Distribution. AIIE
Transactions 6, 1974.) The sums of |alpha| are cut into buckets of equal width, and the table
gives the start of the search in each. The last bucket is unbounded: sums may outgrow the table,
and draws are still correct, in logarithmic time.
"""

import numpy as np
from numba import int64, njit, uint64

from iln_stream.compiled.jit import compiled
from iln_stream.compiled.wide import widest_vectors

_ONE = np.uint64(1)


@njit(inline="always")
def _bucket(v, origin, per_unit, table):  # type: ignore[no-untyped-def]
    """The bucket of a sum; the table has one more entry, which is never looked up."""
    return int64(min((v - origin) * per_unit, len(table) - 2.0))


@compiled
def extend(prefix, first, last, table, filled, origin, per_unit):  # type: ignore[no-untyped-def]
    """Add positions first <= p < last to the table; return the number of filled buckets.

    table[b] is the first p whose end, prefix[p + 1], lies in bucket b or beyond. Ends and draws
    find their bucket by the same monotone function, so no draw starts past its position.
    """
    end = _bucket(prefix[last], origin, per_unit, table) + 1
    for b in range(filled, end):
        table[b] = 0
    for p in range(first, last):  # a p that ends in bucket b is ruled out from b + 1 on
        table[_bucket(prefix[p + 1], origin, per_unit, table) + 1] = p + 1
    p = first
    for b in range(filled, end):
        p = max(p, int64(table[b]))
        table[b] = p
    return max(filled, end)


@compiled
def positions(r, n, prefix, first, last, table, origin, per_unit, p):  # type: ignore[no-untyped-def]
    """p[k] <- the p with prefix[p] <= u < prefix[p + 1], u being the share r[k] of the sums."""
    widest_vectors()
    below = prefix[first]
    share = prefix[last] - below
    highest = np.nextafter(prefix[last], 0.0)  # rounding may push u onto the total
    for k in range(n):
        u = min(below + r[k] * share, highest)
        r[k] = u
        p[k] = _bucket(u, origin, per_unit, table)
    # Without branches: their outcome would be random, and they would wait for memory.
    for k in range(n):
        u = r[k]
        i = uint64(table[uint64(p[k])])
        i += uint64(prefix[i + _ONE] <= u)
        i += uint64(prefix[i + _ONE] <= u)
        p[k] = i
    for k in range(n):
        u, i = r[k], p[k]
        if prefix[uint64(i + 1)] <= u:  # terminates, as prefix[last] > u
            low, high = i + 1, last - 1
            step = 1
            while low + step < high and prefix[low + step] <= u:
                step += step
            high = min(high, low + step)
            while low < high:
                middle = (low + high) >> 1
                if prefix[middle + 1] <= u:
                    low = middle + 1
                else:
                    high = middle
            p[k] = low
