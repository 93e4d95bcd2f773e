"""Algorithm 2 for Gaussian ridges, psi(x; w) = sigma(omega.x + b): fresh i and w for each draw.

omega ~ N(0, scale^2 I); b is N(0, bias^2) where `normal_bias`, else U[0, bias). All functions
return the mean and the mean square of sgn(alpha_i) psi(x_i; w) psi(x; w) over m draws.

Draws are made in tiles. Each step runs over the whole tile, in a loop that vectorises. A tile's
random numbers are, in this order: one for each draw's i and phase, then the normals.
"""

import numpy as np
from numba import float32, int64, njit

from iln_stream.kernels.activations import activate, cos_turns
from iln_stream.kernels.jit import compiled
from iln_stream.kernels.random import counter_of, fill_normals, fill_uniform_pairs
from iln_stream.kernels.supports import positions
from iln_stream.kernels.vectors import (
    LANES,
    lanes,
    minus,
    no_lanes,
    plus_product,
    prefetch,
    shaped,
    sum_of,
    widest_vectors,
)

_NORMALS_AT_ONCE = 4096
_BITS = 512  # random numbers that are made at once, for the normals
_MOST = 256  # draws of a tile
_CACHED = 1 << 18  # rows of up to so many numbers are in the cache anyway
_LINE = 16  # numbers in a cache line


@njit(inline="always")
def draws_at_once(normals_a_draw):  # type: ignore[no-untyped-def]
    """Return the number of draws whose normals are made at once."""
    return max(1, _NORMALS_AT_ONCE // max(normals_a_draw, 1))


@compiled
def padded(x):  # type: ignore[no-untyped-def]
    """Return x in single precision, with zeros up to a whole number of lanes."""
    wide = np.zeros((len(x) + LANES - 1) // LANES * LANES, np.float32)
    for j in range(len(x)):
        wide[j] = x[j]
    return wide


@compiled
def direct(  # type: ignore[no-untyped-def]
    prefix, first, last, entry, rows, table, origin, per_unit,
    x, scale, bias, normal_bias, activation, key, t, m,
):  # fmt: skip
    """Draw all d normals of each omega, as Algorithm 2 is written."""
    widest_vectors()
    d = len(x)
    x = padded(x)
    flat, width = shaped(rows, 0, (rows.size,)), rows.shape[1]
    seen = min(width, len(x))  # columns stored in rows
    stride = d + 1 if normal_bias else d
    size = min(_MOST, m)
    at_once = min(draws_at_once(stride), size)
    r, slots, sign, phase, z_i, z, psi_i, psi, bits = _new_tile(size)
    normals = np.zeros(at_once * stride + 1 + LANES, np.float32)  # finite past the last draw
    scale, bias = float32(scale), float32(bias)
    counter = counter_of(t)
    total = 0.0
    squares = 0.0
    for start in range(0, m, size):
        n = min(size, m - start)
        counter = _draw_points(
            prefix, first, last, entry, table, origin, per_unit, key, counter, n,
            r, phase, slots, sign,
        )  # fmt: skip
        _fetch(rows, slots, 0, min(at_once, n))
        for a in range(0, n, at_once):
            b = min(a + at_once, n)
            _fetch(rows, slots, b, min(b + at_once, n))
            counter = _draw_normals(key, counter, (b - a) * stride, bits, normals)
            if normal_bias:
                for k in range(a, b):
                    phase[k] = normals[(k - a) * stride + d]
            for k in range(a, b):
                z[k] = scale * _product(normals, (k - a) * stride, x, 0, len(x)) + bias * phase[k]
            for k in range(a, b):
                at_row = _product(normals, (k - a) * stride, flat, slots[k] * width, seen)
                z_i[k] = scale * at_row + bias * phase[k]
        activate(activation, z_i[:n], psi_i[:n])
        activate(activation, z[:n], psi[:n])
        tile_total, tile_squares = _sums(sign, psi_i, psi, n)
        total += tile_total
        squares += tile_squares
    return total / m, squares / m


@compiled
def two_normals(  # type: ignore[no-untyped-def]
    prefix, first, last, entry, rows, table, origin, per_unit,
    x, scale, bias, normal_bias, activation, key, t, m,
):  # fmt: skip
    """Two normals per draw, for any d: (omega.x, omega.(x_i - x)) is bivariate normal.

    delta = x_i - x is split into a part along x and the rest across it: as differences, they keep
    their digits where x_i is near x.
    """
    widest_vectors()
    x = padded(x)
    norm = np.sqrt(_square(x, 0))
    per_norm = float32(1.0) / norm if norm > 0 else float32(0.0)
    size = min(_MOST, m)
    r, slots, sign, phase, z_i, z, psi_i, psi, bits = _new_tile(size)
    normals = np.empty(3 * size, np.float32)
    scale, bias = float32(scale), float32(bias)
    counter = counter_of(t)
    total = 0.0
    squares = 0.0
    for start in range(0, m, size):
        n = min(size, m - start)
        counter = _draw_points(
            prefix, first, last, entry, table, origin, per_unit, key, counter, n,
            r, phase, slots, sign,
        )  # fmt: skip
        _fetch(rows, slots, 0, n)
        counter = _draw_normals(key, counter, 3 * n if normal_bias else 2 * n, bits, normals)
        _differences(n, slots, rows, x, z_i, z)
        if normal_bias:
            for k in range(n):
                phase[k] = normals[2 * n + k]
        for k in range(n):
            along = per_norm * z_i[k]
            across = np.sqrt(max(z[k] - along * along, float32(0.0)))
            at_x = norm * normals[k]
            at_row = at_x + along * normals[k] + across * normals[n + k]
            z_i[k] = scale * at_row + bias * phase[k]
            z[k] = scale * at_x + bias * phase[k]
        activate(activation, z_i[:n], psi_i[:n])
        activate(activation, z[:n], psi[:n])
        tile_total, tile_squares = _sums(sign, psi_i, psi, n)
        total += tile_total
        squares += tile_squares
    return total / m, squares / m


@compiled
def phase_integrated(  # type: ignore[no-untyped-def]
    prefix, first, last, entry, rows, table, origin, per_unit, x, scale, key, t, m
):  # fmt: skip
    """One normal n per draw: E_b[cos(omega.x_i + b) cos(omega.x + b)] = cos(scale |x_i - x| n) / 2.

    `scale` is in turns.
    """
    widest_vectors()
    x = padded(x)
    size = min(_MOST, m)
    r, slots, sign, phase, z_i, z, psi_i, psi, bits = _new_tile(size)
    normals = np.empty(size + 1, np.float32)
    scale = float32(scale)
    counter = counter_of(t)
    total = 0.0
    squares = 0.0
    for start in range(0, m, size):
        n = min(size, m - start)
        counter = _draw_points(
            prefix, first, last, entry, table, origin, per_unit, key, counter, n,
            r, phase, slots, sign,
        )  # fmt: skip
        _fetch(rows, slots, 0, n)
        counter = _draw_normals(key, counter, n, bits, normals)
        _differences(n, slots, rows, x, z_i, z)
        for k in range(n):
            psi_i[k] = cos_turns(scale * np.sqrt(z[k]) * normals[k])
            psi[k] = float32(0.5)
        tile_total, tile_squares = _sums(sign, psi_i, psi, n)
        total += tile_total
        squares += tile_squares
    return total / m, squares / m


@compiled
def block(  # type: ignore[no-untyped-def]
    prefix, first, last, entry, rows, table, origin, per_unit,
    x, scale, bias, normal_bias, activation, key, t, points, terms,
):  # fmt: skip
    """terms[r] <- the mean of unit r's products over `points` draws of i, d normals for each r.

    A tile holds whole units. A unit's phase is that of its first point.
    """
    widest_vectors()
    d = len(x)
    x = padded(x)
    flat, width = shaped(rows, 0, (rows.size,)), rows.shape[1]
    seen = min(width, len(x))  # columns stored in rows
    stride = d + 1 if normal_bias else d
    size = max(1, min(_MOST, draws_at_once(stride)) // points)  # units of a tile
    r, slots, sign, phase, z_i, z, psi_i, psi, bits = _new_tile(size * points)
    normals = np.zeros(size * stride + 1 + LANES, np.float32)
    scale, bias = float32(scale), float32(bias)
    counter = counter_of(t)
    for start in range(0, len(terms), size):
        units = min(size, len(terms) - start)
        n = units * points
        counter = _draw_points(
            prefix, first, last, entry, table, origin, per_unit, key, counter, n,
            r, phase, slots, sign,
        )  # fmt: skip
        _fetch(rows, slots, 0, n)
        counter = _draw_normals(key, counter, units * stride, bits, normals)
        for u in range(units):
            b = bias * (normals[u * stride + d] if normal_bias else phase[u * points])
            z[u] = scale * _product(normals, u * stride, x, 0, len(x)) + b
            for k in range(u * points, (u + 1) * points):
                at_row = _product(normals, u * stride, flat, slots[k] * width, seen)
                z_i[k] = scale * at_row + b
        activate(activation, z_i[:n], psi_i[:n])
        activate(activation, z[:units], psi[:units])
        for u in range(units):
            total = float32(0.0)
            for k in range(u * points, (u + 1) * points):
                total += sign[k] * psi_i[k]
            terms[start + u] = psi[u] * total / points


@njit(inline="always")
def _new_tile(n):  # type: ignore[no-untyped-def]
    """Uninitialised arrays for n draws: r, slots, sign, phase, z_i, z, psi_i, psi, bits."""
    return (
        np.empty(n), np.empty(n, np.int64), np.empty(n, np.float32), np.empty(n, np.float32),
        np.empty(n, np.float32), np.empty(n, np.float32), np.empty(n, np.float32),
        np.empty(n, np.float32), np.empty(_BITS, np.uint64),
    )  # fmt: skip


@compiled
def _draw_points(  # type: ignore[no-untyped-def]
    prefix, first, last, entry, table, origin, per_unit, key, counter, n, r, phase, slots, sign
):
    """Draw n points and uniform phases; return the counter after their numbers.

    slots[k] <- the slot of draw k's row; sign[k] <- the sign of its alpha.
    """
    fill_uniform_pairs(key, counter, n, r, phase)
    positions(r, n, prefix, first, last, table, origin, per_unit, slots)
    for k in range(n):
        e = int64(entry[slots[k]])
        sign[k] = float32(-1.0) if e < 0 else float32(1.0)
        slots[k] = ~e if e < 0 else e
    return counter + np.uint64(n)


@compiled
def _draw_normals(key, counter, n, bits, normals):  # type: ignore[no-untyped-def]
    """Fill normals[:n], and one more if n is odd; return the counter after their numbers."""
    pairs = (n + 1) // 2
    fill_normals(key, counter, pairs, bits, normals)
    return counter + np.uint64(pairs)


@njit(inline="always")
def _fetch(rows, slots, a, b):  # type: ignore[no-untyped-def]
    """Prefetch rows that are about to be read, while normals are made."""
    if rows.size > _CACHED:
        width = rows.shape[1]
        flat = shaped(rows, 0, (rows.size,))
        for k in range(a, b):
            for j in range(0, width, _LINE):
                prefetch(flat, slots[k] * width + j)


@njit(inline="always")
def _product(a, i, b, j, width):  # type: ignore[no-untyped-def]
    """The product of a[i : i + width] and b[j : j + width], in whole lanes."""
    product = no_lanes()
    for k in range(0, width, LANES):
        product = plus_product(product, lanes(a, i + k), lanes(b, j + k))
    return sum_of(product)


@compiled
def _differences(n, slots, rows, x, along, square):  # type: ignore[no-untyped-def]
    """along[k] <- <x, delta> and square[k] <- |delta|^2 with delta = row slots[k] - x."""
    flat, width = shaped(rows, 0, (rows.size,)), rows.shape[1]
    seen = min(width, len(x))
    unseen = _square(x, seen)  # of columns that rows don't store
    for k in range(n):
        on_x = no_lanes()
        on_itself = no_lanes()
        for j in range(0, seen, LANES):
            at_x = lanes(x, j)
            delta = minus(lanes(flat, slots[k] * width + j), at_x)
            on_x = plus_product(on_x, at_x, delta)
            on_itself = plus_product(on_itself, delta, delta)
        along[k] = sum_of(on_x) - unseen
        square[k] = sum_of(on_itself) + unseen


@compiled
def _square(x, start):  # type: ignore[no-untyped-def]
    square = float32(0.0)
    for j in range(start, len(x)):
        square += x[j] * x[j]
    return square


@compiled
def _sums(sign, psi_i, psi, n):  # type: ignore[no-untyped-def]
    total = float32(0.0)
    squares = float32(0.0)
    for k in range(n):
        product = psi_i[k] * psi[k]
        total += sign[k] * product
        squares += product * product
    return float(total), float(squares)
