"""A ridge's cosine units, moved by gradients on the newest event and on past ones.

The weights theta are always those of the ridge, which fits them to the units as they are: variable
projection (G. Golub, V. Pereyra. The Differentiation of Pseudo-Inverses and Nonlinear Least Squares
Problems Whose Variables Separate. SIAM J. Numer. Anal. 10, 1973), one row at a time.
"""

import numpy as np
from numba import float32, uint64

from iln_stream.kernels.activations import TURNS, cos_turns
from iln_stream.kernels.columns import ABSENT, COUNT, MEAN, n_broken, value_of
from iln_stream.kernels.columns import SQUARES as SQUARED
from iln_stream.kernels.jit import compiled
from iln_stream.kernels.networks import descend, set_sparse_product
from iln_stream.kernels.random import counter_of, fill_uniforms
from iln_stream.kernels.regression_event import WIDTH, center_and_unit, scaled
from iln_stream.kernels.ridges import LINEAR_SCALE, unit_scale
from iln_stream.kernels.vectors import shaped

BATCH = 16
"""Rows in a step: the event, and draws from the memory."""

WEIGHTS, MOMENTS, SQUARES, AVERAGE = range(4)
"""Rows of the units, (4, L + 1, R): omega and, below it, b; the first three as those of AdamW. The
ridge uses the last: the running average of the weights."""

RATE = 4e-3 * TURNS
"""Learning rate after the warm-up, in turns."""

WARM_UP, SLOWING = 5.0, 3e4
"""After s steps the rate is `RATE` min(1, s / WARM_UP) / sqrt(1 + s / SLOWING)."""

AVERAGE_RATE, AVERAGE_LEAST = 0.02, 1e-3
"""The average moves by max(1 / (1 + rate s), least) in step s."""

HUBER = 3.0
"""Errors beyond this many standard deviations of the target count linearly."""


@compiled
def move_units(units, theta, memory, n_lags, stats, target, n, kept, step, seed):  # type: ignore[no-untyped-def]
    """Take a step, counted from 1, on event n - 1 and on draws from the last `kept` of n events.

    `memory` (N, L + 1) is a ring of events: the targets before each, its raw row, its target,
    and its weight if there is room for it. Returns whether these events are finite; if not, the
    units stay.
    """
    L, R = units.shape[1] - 1, units.shape[2]
    rows, t, w = np.empty((BATCH, L + 1), np.float32), np.empty(BATCH), np.empty(BATCH)
    if gather(memory, n_lags, stats, target, n, kept, seed, rows, t, w) > 0:
        return False
    phases, cosines = np.empty((BATCH, R), np.float32), np.empty((BATCH, R), np.float32)
    weights, zeros = np.empty(R, np.float32), np.zeros((1, R), np.float32)
    for r in range(R):
        weights[r] = WIDTH * unit_scale(R) * theta[r]
    set_sparse_product(rows, units[WEIGHTS], zeros, phases)
    for k in range(BATCH):
        for r in range(R):
            cosines[k, r] = cos_turns(phases[k, r])
    errors = np.empty(BATCH, np.float32)
    for k in range(BATCH):
        output = float32(0.0)
        for r in range(R):
            output += weights[r] * cosines[k, r]
            phases[k, r] += float32(0.25)
        linear = theta[R]
        for j in range(L):
            linear += LINEAR_SCALE * theta[R + 1 + j] * rows[k, j]
        error = output + WIDTH * (linear - t[k])
        errors[k] = min(max(error, -HUBER), HUBER) / (BATCH * TURNS)
    if memory.shape[1] > L + 1:
        for k in range(BATCH):
            errors[k] *= float32(w[k])
    for k in range(BATCH):
        error = errors[k]
        for r in range(R):
            cosines[k, r] = cos_turns(phases[k, r]) * (error * weights[r])
    gradient = np.empty((L + 1, R), np.float32)
    set_sparse_product(rows.T, cosines, zeros, gradient)
    rate = RATE * min(1.0, step / WARM_UP) / np.sqrt(1.0 + step / SLOWING)
    S = (L + 1) * R
    flat = shaped(units, 0, (4, S))
    descend(flat, shaped(gradient, 0, (1, S)), 0, S, step, rate, 0.0)
    fraction = float32(max(1.0 / (1.0 + AVERAGE_RATE * step), AVERAGE_LEAST))
    for i in range(S):
        flat[AVERAGE, i] += fraction * (flat[WEIGHTS, i] - flat[AVERAGE, i])
    return True


@compiled
def gather(memory, n_lags, stats, target, n, kept, seed, rows, t, w):  # type: ignore[no-untyped-def]
    """Fill rows (16, L + 1), which end with 1, targets t and weights w, by present statistics.

    Returns how many numbers of these events are not finite: clipping would hide them.
    """
    N, L, d = memory.shape[0], rows.shape[1] - 1, stats.shape[1]
    center, unit = center_and_unit(target)
    uniforms, inverses = np.empty(BATCH - 1), np.empty(d)
    fill_uniforms(uint64(seed), counter_of(n), BATCH - 1, uniforms)
    for j in range(d):
        inverses[j] = inverse_deviation(stats, j)
    broken = 0
    for k in range(BATCH):
        back = 0 if k == 0 else int(uniforms[k - 1] * kept)
        event = memory[(n - 1 - back) % N]
        broken += n_broken(event)
        for j in range(n_lags):
            rows[k, j] = WIDTH * scaled(event[j], center, unit)
        for j in range(d):
            value = value_of(event[n_lags:], stats, j)
            z = (value - stats[MEAN, j]) * inverses[j] if value < ABSENT else 0.0
            rows[k, n_lags + j] = min(max(z, -5.0), 5.0)
        rows[k, L] = 1.0
        t[k] = scaled(event[L], center, unit)
        w[k] = event[L + 1] if memory.shape[1] > L + 1 else 1.0
    return broken


@compiled
def inverse_deviation(stats, j):  # type: ignore[no-untyped-def]
    """1 / sd of column j; 0 while all values agree to within rounding, as in `in_deviations`."""
    count, mean, squares = stats[COUNT, j], stats[MEAN, j], stats[SQUARED, j]
    if squares <= 1e-26 * count * mean * mean:
        return 0.0
    sd = np.sqrt(squares / count)
    return 1.0 / sd if sd > 0.0 else 0.0
