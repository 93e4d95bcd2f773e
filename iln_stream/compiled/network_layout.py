"""Where a network's weights lie, and its scratch: views of a few flat arrays.

o = b3 + w3.h2 + skip.z for each output, h2 = sigma(W2'h1 + b2), h1 = sigma(W1'z + b1 + ..). z are
the columns' deviations; sigma is tanh in the first half of a layer and SiLU in the second. The last
`piecewise` units of the first layer also add a piecewise-linear function of each column, given by
its increments over the segments between quantiles (Y. Gorishniy, I. Rubachev, A. Babenko. On
Embeddings for Numerical Features in Tabular Deep Learning. NeurIPS 2022).
"""

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from iln_stream.compiled.adam import LONG, SHORT, WEIGHTS
from iln_stream.compiled.counter_rng import counter_of, fill_normals
from iln_stream.compiled.jit import compiled, plain
from iln_stream.compiled.replay_ring import KNOTS
from iln_stream.compiled.shaped import shaped
from iln_stream.compiled.wide_lanes import LANES

BATCH = 16
"""Rows in a step: the event, and draws from the ring."""

STEPS = 0
"""Index into a network's record, (1,): steps taken."""

SEGMENTS = KNOTS - 1
PADDED = LANES
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
    """Parameters (5, S), as in `adam`; record (1,); the key of its draws (1,)."""

    parameters: NDArray[np.float32]
    record: NDArray[np.float64]
    key: NDArray[np.uint64]


class Weights(NamedTuple):
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
    return Weights(
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
