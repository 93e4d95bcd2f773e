"""The fastest known loops for each part of a draw, compiled, without overhead.

Each folds what it makes into the number it returns, or writes it out, so that none of it can be
left out; and it squares before it sums where a plain sum would let the compiler merge steps.
Randomness is splitmix64: a counter that is mixed, as the estimators' own.
"""

from functools import cache

import numpy as np
from numba import float32, int32, int64, njit, uint32, uint64

from iln_stream.kernels.vectors import widest_vectors

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)

# Polynomials, minimax to single precision: sin(2 pi c) / c and cos(2 pi c) in c^2 on |c| <= 1/4,
# and ln(1 + f) / f on 1 + f in [sqrt(1/2), sqrt(2)].
_S = tuple(np.float32([6.28318516, -41.34165503, 81.60100404, -76.54978145, 39.53669948]))
_C = tuple(np.float32([1.0, -19.73920861, 64.93935536, -85.45400663, 60.15274242, -25.04286741]))
_L = tuple(np.float32([0.99999994, -0.50000363, 0.33335114, -0.2497007]))
_L += tuple(np.float32([0.19898565, -0.17247013, 0.1623419, -0.10134057]))
_LN_2 = np.float32(np.log(2.0))
_SQRT_HALF_BITS = np.int32(0x3F3504F3)


@njit(inline="always")
def mixed(z):
    """64 random bits of a counter that goes up by GOLDEN."""
    z = (z ^ (z >> uint64(30))) * _MIX_1
    z = (z ^ (z >> uint64(27))) * _MIX_2
    return z ^ (z >> uint64(31))


@njit(inline="always")
def cos_turns(u):
    """cos(2 pi u)."""
    c = float32(0.25) - abs(u - np.floor(u + float32(0.5)))
    s = c * c
    return c * (_S[0] + s * (_S[1] + s * (_S[2] + s * (_S[3] + s * _S[4]))))


@njit(inline="always")
def _ln(u):
    bits = np.float32(u).view(np.int32)
    e = int32(int32(bits - _SQRT_HALF_BITS) >> int32(23))
    f = np.int32(bits - int32(e << int32(23))).view(np.float32) - float32(1)
    high = _L[4] + f * (_L[5] + f * (_L[6] + f * _L[7]))
    return float32(e) * _LN_2 + f * (_L[0] + f * (_L[1] + f * (_L[2] + f * (_L[3] + f * high))))


@njit(inline="always")
def two_normals(high, low):
    """Box-Muller: 32 bits for the radius, 31 for an angle in a half circle, 1 for the side."""
    u = (float32(high) + float32(2.0**31 + 64.0)) * float32(2.0**-32)
    c = float32(low) * float32(2.0**-33)
    s = c * c
    r = np.sqrt(float32(-2) * _ln(u))
    sine = c * (_S[0] + s * (_S[1] + s * (_S[2] + s * (_S[3] + s * _S[4]))))
    cosine = _C[0] + s * (_C[1] + s * (_C[2] + s * (_C[3] + s * (_C[4] + s * _C[5]))))
    y = np.float32(r * cosine).view(np.int32)
    return r * sine, np.int32(y ^ int32(low << int32(31))).view(np.float32)


@njit(fastmath=True)
def normals_summed(counter, n):
    """n normals that stay in registers."""
    widest_vectors()
    total = float32(0)
    for _ in range(n // 2):
        counter += GOLDEN
        z = mixed(counter)
        a, b = two_normals(int32(z >> uint64(32)), int32(z))
        total += a * a + b * b * b
    return total


@njit(fastmath=True)
def normals_in_two_passes(counter, n, bits, out):
    """n normals, block by block into out (2, k): first all bits (k,), then all normals."""
    widest_vectors()
    k = len(bits)
    first, second, halves = out[0], out[1], bits.view(np.int32)
    for _ in range(n // (2 * k)):
        for i in range(k):
            counter += GOLDEN
            bits[i] = mixed(counter)
        for i in range(k):
            first[i], second[i] = two_normals(halves[2 * i + 1], halves[2 * i])
    return counter


@njit(fastmath=True)
def normals_in_one_pass(counter, n, out):
    """n normals, block by block into out (2, k)."""
    widest_vectors()
    first, second = out[0], out[1]
    for _ in range(n // out.size):
        for i in range(len(first)):
            counter += GOLDEN
            z = mixed(counter)
            first[i], second[i] = two_normals(int32(z >> uint64(32)), int32(z))
    return counter


@njit(fastmath=True)
def cosines_summed(u, repeats):
    """cos(2 pi u) of numbers that lie in the first cache, `repeats` times."""
    widest_vectors()
    total = float32(0)
    for _ in range(repeats):
        for i in range(len(u)):
            total += cos_turns(u[i])
    return total


@njit(fastmath=True)
def cosines_written(u, out, repeats):
    """The same, written out."""
    widest_vectors()
    for _ in range(repeats):
        for i in range(len(u)):
            out[i] = cos_turns(u[i])
    return out[0]


@njit
def alias_table(p):
    """Vose's table for indices with probability ~ p: threshold and alias in one word each."""
    n = len(p)
    q = p * (n / p.sum())
    threshold, alias = np.ones(n), np.arange(n)
    small, large = np.empty(n, np.int64), np.empty(n, np.int64)
    n_small = n_large = 0
    for i in range(n):
        if q[i] < 1.0:
            small[n_small] = i
            n_small += 1
        else:
            large[n_large] = i
            n_large += 1
    while n_small > 0 and n_large > 0:
        n_small -= 1
        i, j = small[n_small], large[n_large - 1]
        threshold[i], alias[i] = q[i], j
        q[j] -= 1.0 - q[i]
        if q[j] < 1.0:
            n_large -= 1
            small[n_small] = j
            n_small += 1
    table = np.empty(n, np.uint64)
    for i in range(n):
        low = uint64(min(threshold[i] * 4294967296.0, 4294967295.0))
        table[i] = (uint64(alias[i]) << uint64(32)) | low
    return table


@njit(inline="always")
def _by_alias(z, table):
    i = ((z >> uint64(32)) * uint64(len(table))) >> uint64(32)
    word = table[i]
    return i if uint32(z) <= uint32(word) else word >> uint64(32)


@njit(fastmath=True)
def indices_by_alias(counter, table, out):
    """Indices by the alias method: one look-up, no search. A new point needs a new table."""
    widest_vectors()
    for k in range(len(out)):
        counter += GOLDEN
        out[k] = _by_alias(mixed(counter), table)
    return counter


@njit(fastmath=True)
def indices_by_alias_summed(counter, table, n):
    """n indices that stay in registers."""
    widest_vectors()
    total = uint64(0)
    for _ in range(n):
        counter += GOLDEN
        total += _by_alias(mixed(counter), table)
    return total


@njit(fastmath=True)
def indices_by_guide(counter, prefix, guide, out):
    """Indices by prefix sums and a guide table over them; points can be appended to both."""
    total = prefix[-1]
    to_u = total * 2.0**-53
    to_bucket = len(guide) / total
    for k in range(len(out)):
        counter += GOLDEN
        u = float(int64(mixed(counter) >> uint64(11))) * to_u
        i = uint64(guide[uint64(min(u * to_bucket, len(guide) - 1.0))])
        while prefix[i] <= u:
            i += uint64(1)
        out[k] = i
    return counter


def guide_table(prefix, buckets_a_point=4):
    """For each of equal slices of the total, the first index that a u in it can belong to."""
    n = buckets_a_point * len(prefix)
    starts = np.arange(n) * (prefix[-1] / n)
    # One bucket down guards against rounding in u * to_bucket.
    first = np.searchsorted(prefix, starts, side="right")
    return np.concatenate([first[:1], first[:-1]]).astype(np.int32)


@njit(fastmath=True)
def indices_by_bisection(counter, prefix, out):
    """Indices by prefix sums and a binary search."""
    to_u = prefix[-1] * 2.0**-53
    for k in range(len(out)):
        counter += GOLDEN
        u = float(int64(mixed(counter) >> uint64(11))) * to_u
        out[k] = np.searchsorted(prefix, u, side="right")
    return counter


@njit(fastmath=True)
def rows_any_width(i, X, w):
    """X[i].w for every index of i: gather and dot, the width known at run time."""
    total = float32(0)
    for k in range(len(i)):
        row, dot = uint64(i[k]), float32(0)
        for j in range(len(w)):
            dot += X[row, uint64(j)] * w[j]
        total += dot * dot
    return total


@cache
def rows_of_width(d, widest):
    """The same loop compiled for the width d, with or without 512-bit vectors."""

    @njit(fastmath=True)
    def rows(i, X, w):
        if widest:
            widest_vectors()
        total = float32(0)
        for k in range(len(i)):
            row, dot = uint64(i[k]), float32(0)
            for j in range(d):
                dot += X[row, uint64(j)] * w[j]
            total += dot * dot
        return total

    return rows
