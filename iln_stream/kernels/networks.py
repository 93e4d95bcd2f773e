"""Networks of two hidden layers: where their weights lie, outputs, gradients and AdamW.

o = b3 + w3.h2 + skip.z for each output, h2 = sigma(W2'h1 + b2), h1 = sigma(W1'z + b1 + ..). z are
the columns' deviations; sigma is tanh in the first half of a layer and SiLU in the second. The last
`piecewise` units of the first layer also add a piecewise-linear function of each column, given by
its increments over the segments between quantiles (Y. Gorishniy, I. Rubachev, A. Babenko. On
Embeddings for Numerical Features in Tabular Deep Learning. NeurIPS 2022).

A BLAS differs from one installation to the next, and so do its results. These loops always add in
the same order.

I. Loshchilov, F. Hutter. Decoupled Weight Decay Regularization. ICLR 2019. T. Dozat. Incorporating
Nesterov Momentum into Adam. ICLR Workshop 2016. B. Polyak, A. Juditsky. Acceleration of Stochastic
Approximation by Averaging. SIAM J. Control Optim. 30, 1992.
"""

from typing import NamedTuple

import numpy as np
from numba import float32, uint64
from numpy.typing import NDArray

from iln_stream.kernels.activations import activate_layer
from iln_stream.kernels.jit import compiled, compiled_once, plain
from iln_stream.kernels.random import counter_of, fill_normals
from iln_stream.kernels.replay_ring import FRACTION, KNOTS, LEVELS, SEGMENT, Z
from iln_stream.kernels.vectors import (
    WIDE_LANES,
    larger,
    load,
    root,
    shaped,
    smaller,
    spread,
    store,
    total,
    transpose_tile,
)


@compiled_once
def set_product(A, B, bias, C):  # type: ignore[no-untyped-def]
    """C = A B + bias for A (m, k), B (k, n), C (m, n), bias (1, n) in each row.

    m is a multiple of 4, n of 32. Rows of B and C are contiguous. A tile of C, 4 rows of 32,
    stays in registers.
    """
    for i in range(0, A.shape[0], 4):
        for j in range(0, C.shape[1], 2 * WIDE_LANES):
            c00, c01 = load(bias, 0, j), load(bias, 0, j + WIDE_LANES)
            c10, c11 = c00, c01
            c20, c21 = c00, c01
            c30, c31 = c00, c01
            for k in range(A.shape[1]):
                b0, b1 = load(B, k, j), load(B, k, j + WIDE_LANES)
                a = spread(A[i, k])
                c00, c01 = c00 + a * b0, c01 + a * b1
                a = spread(A[i + 1, k])
                c10, c11 = c10 + a * b0, c11 + a * b1
                a = spread(A[i + 2, k])
                c20, c21 = c20 + a * b0, c21 + a * b1
                a = spread(A[i + 3, k])
                c30, c31 = c30 + a * b0, c31 + a * b1
            store(C, i, j, c00)
            store(C, i, j + WIDE_LANES, c01)
            store(C, i + 1, j, c10)
            store(C, i + 1, j + WIDE_LANES, c11)
            store(C, i + 2, j, c20)
            store(C, i + 2, j + WIDE_LANES, c21)
            store(C, i + 3, j, c30)
            store(C, i + 3, j + WIDE_LANES, c31)


@compiled_once
def _set_row_product(A, B, bias, C):  # type: ignore[no-untyped-def]
    """C = A B + bias for one row, and an even number of rows of B: these go into two sums."""
    for j in range(0, C.shape[1], 2 * WIDE_LANES):
        c0, c1 = load(bias, 0, j), load(bias, 0, j + WIDE_LANES)
        d0, d1 = spread(0.0), spread(0.0)
        for k in range(0, A.shape[1], 2):
            a = spread(A[0, k])
            c0, c1 = c0 + a * load(B, k, j), c1 + a * load(B, k, j + WIDE_LANES)
            a = spread(A[0, k + 1])
            d0, d1 = d0 + a * load(B, k + 1, j), d1 + a * load(B, k + 1, j + WIDE_LANES)
        store(C, 0, j, c0 + d0)
        store(C, 0, j + WIDE_LANES, c1 + d1)


@compiled_once
def set_sparse_product(A, B, bias, C):  # type: ignore[no-untyped-def]
    """Do `set_product`'s work for any m, and n a multiple of 64; skip zeros of A."""
    for i in range(A.shape[0]):
        for j in range(0, C.shape[1], 4 * WIDE_LANES):
            c0, c1 = load(bias, 0, j), load(bias, 0, j + WIDE_LANES)
            c2, c3 = load(bias, 0, j + 2 * WIDE_LANES), load(bias, 0, j + 3 * WIDE_LANES)
            for k in range(A.shape[1]):
                if A[i, k] != 0.0:
                    a = spread(A[i, k])
                    c0, c1 = c0 + a * load(B, k, j), c1 + a * load(B, k, j + WIDE_LANES)
                    c2 = c2 + a * load(B, k, j + 2 * WIDE_LANES)
                    c3 = c3 + a * load(B, k, j + 3 * WIDE_LANES)
            store(C, i, j, c0)
            store(C, i, j + WIDE_LANES, c1)
            store(C, i, j + 2 * WIDE_LANES, c2)
            store(C, i, j + 3 * WIDE_LANES, c3)


@compiled
def transpose(A, T):  # type: ignore[no-untyped-def]
    """T = A' for A (m, n), both sizes multiples of 16."""
    for i in range(0, A.shape[0], WIDE_LANES):
        for j in range(0, A.shape[1], WIDE_LANES):
            transpose_tile(A, i, j, T)


@compiled
def add_rows(A, total):  # type: ignore[no-untyped-def]
    """total (1, n) = the sum of A's rows (m, n); n a multiple of 16."""
    for j in range(0, A.shape[1], WIDE_LANES):
        s = load(A, 0, j)
        for i in range(1, A.shape[0]):
            s = s + load(A, i, j)
        store(total, 0, j, s)


WEIGHTS, MOMENTS, GRADIENT_SQUARES, SHORT, LONG = range(5)
"""Rows of the parameters, shape (5, S): weights, means of their gradients and of the squares of
these, and averages of the weights over a shorter and a longer past."""

BETA_1, BETA_2 = 0.9, 0.999

FLOOR = 1e-16
"""Least mean square of a gradient: smaller gradients move a weight by less than the rate."""

_TINY = 1e-25
"""Added to each gradient's mean, which would otherwise fade into slow subnormal numbers."""


@compiled
def descend(parameters, gradient, first, last, step, rate, decay):  # type: ignore[no-untyped-def]
    """Move the weights first..last - 1, multiples of 16, by the gradient (1, S).

    The step counts from 1.
    """
    b1, a1 = spread(float32(BETA_1)), spread(float32(1.0 - BETA_1))
    b2, a2 = spread(float32(BETA_2)), spread(float32(1.0 - BETA_2))
    floor, tiny = spread(float32(FLOOR)), spread(float32(_TINY))
    keep = spread(float32(1.0 - rate * decay))
    bias_1, bias_2 = 1.0 - BETA_1**step, 1.0 - BETA_2**step
    move = spread(float32(rate * np.sqrt(bias_2) / bias_1))
    for j in range(first, last, WIDE_LANES):
        g = load(gradient, 0, j)
        g1 = a1 * g + tiny
        m = b1 * load(parameters, MOMENTS, j) + g1
        v = larger(b2 * load(parameters, GRADIENT_SQUARES, j) + a2 * g * g, floor)
        w = keep * load(parameters, WEIGHTS, j) - move * (b1 * m + g1) / root(v)
        store(parameters, MOMENTS, j, m)
        store(parameters, GRADIENT_SQUARES, j, v)
        store(parameters, WEIGHTS, j, w)


@compiled
def average(parameters, first, last, short, long):  # type: ignore[no-untyped-def]
    """Move the averages of weights first..last - 1 towards the weights by these fractions."""
    s, o = spread(float32(short)), spread(float32(long))
    for j in range(first, last, WIDE_LANES):
        w = load(parameters, WEIGHTS, j)
        e = load(parameters, SHORT, j)
        store(parameters, SHORT, j, e + s * (w - e))
        e = load(parameters, LONG, j)
        store(parameters, LONG, j, e + o * (w - e))


BATCH = 16
"""Rows in a step: the event, and draws from the ring."""

STEPS = 0
"""Index into a network's record, (1,): steps taken."""

SEGMENTS = KNOTS - 1
PADDED = WIDE_LANES
"""Room for up to sixteen outputs' scalars among the parameters, which go in sixteens."""


class Shape(NamedTuple):
    """Sizes and pace of a network.

    Parameters
    ----------
    first
        Units of the first layer, a multiple of 64.
    second
        Units of the second layer, a multiple of 32.
    piecewise
        How many of the first layer's units see piecewise-linear functions of the columns, a
        multiple of 16; or 0.
    window
        Draws are from this many of the last events.
    rate
        Learning rate after the warm-up.
    slowing
        After s steps the rate is `rate` / sqrt(1 + s / slowing).
    outputs
        O, the number of outputs.

    """

    first: int
    second: int
    piecewise: int
    window: int
    rate: float
    slowing: float
    outputs: int = 1


class Network(NamedTuple):
    """Parameters (5, S) of AdamW; record (1,); the key of its draws (1,)."""

    parameters: NDArray[np.float32]
    record: NDArray[np.float64]
    key: NDArray[np.uint64]


class NetworkWeights(NamedTuple):
    """Views of S weights or derivatives; a scalar for each output is in a row of Q = 16, 32, ..

    W2 (first, second), b1 (1, first), b2 (1, second), w3 (O, second), b3 (1, Q), and a row for each
    column: its weights W1 to the first layer, its skip weights (Q,), and its increments,
    (15, piecewise).
    """

    W2: NDArray[np.float32]
    b1: NDArray[np.float32]
    b2: NDArray[np.float32]
    w3: NDArray[np.float32]
    b3: NDArray[np.float32]
    columns: NDArray[np.float32]


class Scratch(NamedTuple):
    """What a step overwrites, for 16 rows.

    Hidden units (16, n) and their derivatives d; the errors' derivatives by the first layer's
    units, e1 (16, first); outputs, and targets or errors (O, 16); zeros, which stay so (1, n);
    values (16, piecewise) at knots; W2's transpose; the gradient (1, S); inputs (3, L, 16) and
    values (L, 16) of the columns.
    """

    h1: NDArray[np.float32]
    d1: NDArray[np.float32]
    e1: NDArray[np.float32]
    h2: NDArray[np.float32]
    d2: NDArray[np.float32]
    outputs: NDArray[np.float32]
    errors: NDArray[np.float32]
    zeros: NDArray[np.float32]
    knots: NDArray[np.float32]
    transposed: NDArray[np.float32]
    gradient: NDArray[np.float32]
    inputs: NDArray[np.float32]
    values: NDArray[np.float32]


@plain
def padded(shape):  # type: ignore[no-untyped-def]
    """Q, the room for a scalar of each output."""
    return (shape.outputs + PADDED - 1) // PADDED * PADDED


@plain
def n_fixed(shape):  # type: ignore[no-untyped-def]
    """Number of weights that don't depend on the number of columns."""
    n1, n2 = shape.first, shape.second
    return n1 * n2 + n1 + (1 + shape.outputs) * n2 + padded(shape)


@plain
def n_of_column(shape):  # type: ignore[no-untyped-def]
    """Number of weights of a column."""
    return shape.first + padded(shape) + SEGMENTS * shape.piecewise


@plain
def n_scratch(shape, L):  # type: ignore[no-untyped-def]
    """Length of a scratch array."""
    units = 3 * shape.first + 2 * (shape.second + shape.outputs)
    layers = BATCH * units + max(shape.first, shape.second)
    weights = shape.first * shape.second + n_fixed(shape) + L * n_of_column(shape)
    return layers + KNOTS * shape.piecewise + weights + 4 * L * BATCH


@compiled
def weights_of(w, shape):  # type: ignore[no-untyped-def]
    """Views of w (S,)."""
    n1, n2 = shape.first, shape.second
    a = n1 * n2
    b = a + n1
    c, of_column = n_fixed(shape), n_of_column(shape)
    d = c - padded(shape)
    return NetworkWeights(
        shaped(w, 0, (n1, n2)),
        shaped(w, a, (1, n1)),
        shaped(w, b, (1, n2)),
        shaped(w, b + n2, (shape.outputs, n2)),
        shaped(w, d, (1, c - d)),
        shaped(w, c, ((w.shape[0] - c) // of_column, of_column)),
    )


@compiled
def scratch_of(array, shape, L):  # type: ignore[no-untyped-def]
    """Views of a scratch array."""
    n1, n2, n3 = shape.first, shape.second, shape.outputs
    a, b, c = BATCH * n1, BATCH * n2, KNOTS * shape.piecewise
    at_h2 = 3 * a
    at_outputs = at_h2 + 2 * b
    at_errors = at_outputs + n3 * BATCH
    at_zeros = at_errors + n3 * BATCH
    at_knots = at_zeros + max(n1, n2)
    at_transposed = at_knots + c
    at_gradient = at_transposed + n1 * n2
    at_inputs = at_gradient + n_fixed(shape) + L * n_of_column(shape)
    at_values = at_inputs + 3 * L * BATCH
    return Scratch(
        shaped(array, 0, (BATCH, n1)),
        shaped(array, a, (BATCH, n1)),
        shaped(array, 2 * a, (BATCH, n1)),
        shaped(array, at_h2, (BATCH, n2)),
        shaped(array, at_h2 + b, (BATCH, n2)),
        shaped(array, at_outputs, (n3, BATCH)),
        shaped(array, at_errors, (n3, BATCH)),
        shaped(array, at_zeros, (1, at_knots - at_zeros)),
        shaped(array, at_knots, (KNOTS, shape.piecewise)),
        shaped(array, at_transposed, (n2, n1)),
        shaped(array, at_gradient, (1, at_inputs - at_gradient)),
        shaped(array, at_inputs, (3, L, BATCH)),
        shaped(array, at_values, (L, BATCH)),
    )


@compiled
def begin(shape, network, counter):  # type: ignore[no-untyped-def]
    """Draw new weights; the same counter, an event's number, gives the same ones again.

    W1, W2 ~ N(0, 1.5 / fan-in), b1 ~ N(0, 1/4); the others are 0.
    """
    parameters = network.parameters
    parameters[:] = 0.0
    w = weights_of(parameters[WEIGHTS], shape)
    n1, n2, L = shape.first, shape.second, w.columns.shape[0]
    pairs = (n1 * (n2 + L + 1) + 1) // 2
    normals = np.empty(2 * pairs, np.float32)
    start = counter_of(counter) + uint64(BATCH)  # the event's first numbers are its draws
    fill_normals(network.key[0], start, pairs, np.empty(512, np.uint64), normals)
    k = 0
    for i in range(n1):
        w.b1[0, i] = 0.5 * normals[k]
        for j in range(n2):
            w.W2[i, j] = np.sqrt(1.5 / n1) * normals[k + 1 + j]
        for j in range(L):
            w.columns[j, i] = np.sqrt(1.5 / L) * normals[k + 1 + n2 + j]
        k += 1 + n2 + L
    for i in range(parameters.shape[1]):
        parameters[SHORT, i] = parameters[LONG, i] = parameters[WEIGHTS, i]
    network.record[STEPS] = 0.0


HUBER = 3.0
"""Errors beyond this many standard deviations count linearly."""


@compiled
def forward(shape, w, inputs, encoding, scratch, rows):  # type: ignore[no-untyped-def]
    """Compute the layers and outputs of the inputs' first `rows` lanes, 1 or 16, by weights w."""
    n1 = shape.first
    h1, h2 = scratch.h1[:rows], scratch.h2[:rows]
    z = inputs[Z]
    set_sparse_product(z.T[:rows], w.columns[:, :n1], w.b1, h1)
    if shape.piecewise > 0:
        for f in range(encoding.shape[0]):
            if encoding[f, LEVELS] >= 3.0:
                if rows == 1:
                    _add_piecewise_of_one(shape, w.columns, inputs, f, h1)
                else:
                    _add_piecewise(shape, w.columns, inputs, f, scratch.knots, h1)
    activate_layer(h1, scratch.d1)
    if rows > 1:
        set_product(h1, w.W2, w.b2, h2)
    elif shape.second % (4 * WIDE_LANES) == 0:
        set_sparse_product(h1, w.W2, w.b2, h2)  # it reads W2 in order
    else:
        _set_row_product(h1, w.W2, w.b2, h2)
    activate_layer(h2, scratch.d2)
    for c in range(shape.outputs):
        skipped = spread(w.b3[0, c])
        for f in range(encoding.shape[0]):
            skipped = skipped + load(z, f, 0) * spread(w.columns[f, n1 + c])
        store(scratch.outputs, c, 0, skipped)
        for i in range(rows):
            s = spread(0.0)
            for j in range(0, shape.second, WIDE_LANES):
                s = s + load(h2, i, j) * load(w.w3, c, j)
            scratch.outputs[c, i] += total(s)


@compiled
def _add_piecewise(shape, columns, inputs, f, knots, h1):  # type: ignore[no-untyped-def]
    """Add column f's piecewise-linear functions to the first layer's last units."""
    n = shape.piecewise
    start, last = shape.first + padded(shape), shape.first - n
    for j in range(0, n, WIDE_LANES):
        value = spread(0.0)
        for b in range(SEGMENTS):
            store(knots, b, j, value)
            value = value + load(columns, f, start + b * n + j)
    for i in range(h1.shape[0]):
        b = int(inputs[SEGMENT, f, i])
        if b >= 0:
            part = spread(inputs[FRACTION, f, i])
            for j in range(0, n, WIDE_LANES):
                added = load(knots, b, j) + part * load(columns, f, start + b * n + j)
                store(h1, i, last + j, load(h1, i, last + j) + added)


@compiled
def _add_piecewise_of_one(shape, columns, inputs, f, h1):  # type: ignore[no-untyped-def]
    """Do `_add_piecewise`'s work for one row: it needs no values at other knots than its own."""
    n = shape.piecewise
    start, last = shape.first + padded(shape), shape.first - n
    segment = int(inputs[SEGMENT, f, 0])
    if segment >= 0:
        part = spread(inputs[FRACTION, f, 0])
        for j in range(0, n, WIDE_LANES):
            h = load(h1, 0, last + j)
            for b in range(segment):
                h = h + load(columns, f, start + b * n + j)
            h = h + part * load(columns, f, start + segment * n + j)
            store(h1, 0, last + j, h)


@compiled
def differentiate(scratch):  # type: ignore[no-untyped-def]
    """Overwrite the targets in `errors` with derivatives by the outputs, after `forward`.

    They are those of the Huber loss's mean over 16 rows.
    """
    errors, huber = scratch.errors, spread(float32(HUBER))
    e = load(scratch.outputs, 0, 0) - load(errors, 0, 0)
    # In this order nan stays nan: it spreads to all weights, and so to the next prediction.
    e = smaller(huber, larger(spread(0.0) - huber, e)) * spread(float32(1.0 / BATCH))
    store(errors, 0, 0, e)


@compiled
def propagate(shape, w, encoding, scratch):  # type: ignore[no-untyped-def]
    """Fill the gradient of any loss whose derivatives by the outputs are in `errors` (O, 16).

    Overwrites `d1` and `d2` with the loss's derivatives by the preactivations.
    """
    n1 = shape.first
    g = weights_of(scratch.gradient[0], shape)
    h2, d1, d2, errors = scratch.h2, scratch.d1, scratch.d2, scratch.errors
    z = scratch.inputs[Z]
    for c in range(shape.outputs):
        e = load(errors, c, 0)
        g.b3[0, c] = total(e)
        for f in range(encoding.shape[0]):
            g.columns[f, n1 + c] = total(e * load(z, f, 0))
    if shape.outputs == 1:
        _propagate_one(w, g, h2, d2, errors)
    else:
        _propagate_several(w, g, h2, d2, errors)
    add_rows(d2, g.b2)
    set_product(scratch.h1.T, d2, scratch.zeros, g.W2)
    transpose(w.W2, scratch.transposed)
    set_product(d2, scratch.transposed, scratch.zeros, scratch.e1)
    for i in range(BATCH):
        for j in range(0, n1, WIDE_LANES):
            store(d1, i, j, load(d1, i, j) * load(scratch.e1, i, j))
    add_rows(d1, g.b1)
    set_sparse_product(z, d1, scratch.zeros, g.columns[:, :n1])
    if shape.piecewise > 0:
        for f in range(encoding.shape[0]):
            if encoding[f, LEVELS] >= 3.0:
                _sum_piecewise(shape, g.columns, scratch.inputs, f, scratch.knots, d1)


@compiled
def _propagate_one(w, g, h2, d2, errors):  # type: ignore[no-untyped-def]
    """Derivatives by w3, and by the second layer's preactivations, of one output's loss."""
    for j in range(0, h2.shape[1], WIDE_LANES):
        s, w3 = spread(0.0), load(w.w3, 0, j)
        for i in range(BATCH):
            error = spread(errors[0, i])
            s = s + error * load(h2, i, j)
            store(d2, i, j, load(d2, i, j) * error * w3)
        store(g.w3, 0, j, s)


@compiled
def _propagate_several(w, g, h2, d2, errors):  # type: ignore[no-untyped-def]
    """Do `_propagate_one`'s work for several outputs."""
    for j in range(0, h2.shape[1], WIDE_LANES):
        for c in range(errors.shape[0]):
            s = spread(0.0)
            for i in range(BATCH):
                s = s + spread(errors[c, i]) * load(h2, i, j)
            store(g.w3, c, j, s)
        for i in range(BATCH):
            s = spread(0.0)
            for c in range(errors.shape[0]):
                s = s + spread(errors[c, i]) * load(w.w3, c, j)
            store(d2, i, j, load(d2, i, j) * s)


@compiled
def _sum_piecewise(shape, columns, inputs, f, knots, d1):  # type: ignore[no-untyped-def]
    """Derivatives by column f's increments, from those by the values at knots."""
    n = shape.piecewise
    start, last = shape.first + padded(shape), shape.first - n
    for b in range(KNOTS):
        for j in range(0, n, WIDE_LANES):
            store(knots, b, j, spread(0.0))
    for i in range(BATCH):
        b = int(inputs[SEGMENT, f, i])
        if b >= 0:
            part = spread(inputs[FRACTION, f, i])
            for j in range(0, n, WIDE_LANES):
                d = load(d1, i, last + j)
                upper = part * d
                store(knots, b, j, load(knots, b, j) + (d - upper))
                store(knots, b + 1, j, load(knots, b + 1, j) + upper)
    for j in range(0, n, WIDE_LANES):
        s = spread(0.0)
        for b in range(SEGMENTS - 1, -1, -1):
            s = s + load(knots, b + 1, j)
            store(columns, f, start + b * n + j, s)
