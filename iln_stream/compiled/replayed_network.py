"""A network of two hidden layers, trained online by AdamW on each event and on past ones.

o = b3 + w3.h2 + skip.z, h2 = sigma(W2'h1 + b2), h1 = sigma(W1'z + b1 + ..) for a column's deviations
z, where sigma is tanh in the first half of a layer and SiLU in the second. The last `piecewise`
units of the first layer also add a piecewise-linear function of each column, given by its
increments over the segments between quantiles (Y. Gorishniy, I. Rubachev, A. Babenko. On Embeddings
for Numerical Features in Tabular Deep Learning. NeurIPS 2022).
"""

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from iln_stream.compiled.adam import LONG, SHORT, WEIGHTS, average, descend
from iln_stream.compiled.counter_rng import counter_of, fill_normals, fill_uniforms
from iln_stream.compiled.jit import compiled
from iln_stream.compiled.matrix_product import add_product, add_rows, add_sparse_product, transpose
from iln_stream.compiled.replay_ring import (
    EVENTS,
    FRACTION,
    KNOTS,
    LEVELS,
    N_LAGS,
    SEGMENT,
    Z,
    encode_stored,
    fetch,
)
from iln_stream.compiled.target import center_and_unit
from iln_stream.compiled.wide_activations import activate
from iln_stream.compiled.wide_lanes import LANES, load, spread, store, total

BATCH = 16
"""Rows in a step: the event, and draws from the ring."""

FIRST_STEP = 9
"""Events before the first step."""

HUBER = 3.0
"""Errors beyond this many standard deviations count linearly."""

FURTHEST_TARGET = 6.0
"""Targets and predictions are clipped at this many standard deviations."""

WARM_UP = 100.0
"""Steps during which the rate rises."""

DECAY, DECAY_EVENTS = 0.5, 1000.0
"""Weight decay, as a multiple of the rate, and the number of steps that halves it."""

SHORT_RATE, SHORT_LEAST = 0.02, 1e-4
LONG_RATE, LONG_LEAST = 0.1, 1e-5
"""The averages move by max(1 / (1 + rate s), least) in step s."""

TURNS = 8
"""A step averages an eighth of the weights, at eight times the fraction."""

SEGMENTS = KNOTS - 1
PADDED = LANES
"""Room for a scalar among the parameters, which go in sixteens."""

STEPS = 0
"""Index into a network's record, (1,): steps taken."""


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
        Number of steps that divides the rate by sqrt(2); the rate is that over sqrt(1 + s / this).

    """

    first: int
    second: int
    piecewise: int
    window: int
    rate: float
    slowing: float


class Network(NamedTuple):
    """Parameters (5, S), as in `adam`; record (1,); the key of its draws (1,)."""

    parameters: NDArray[np.float32]
    record: NDArray[np.float64]
    key: NDArray[np.uint64]


class Weights(NamedTuple):
    """Views of S weights or derivatives; scalars are the first entries of rows of 16.

    W2 (first, second), b1 (1, first), b2, w3 (1, second), b3 (1, 16), and a row for each column:
    its weights W1 to the first layer, its skip weight, and its increments, (15, piecewise).
    """

    W2: NDArray[np.float32]
    b1: NDArray[np.float32]
    b2: NDArray[np.float32]
    w3: NDArray[np.float32]
    b3: NDArray[np.float32]
    columns: NDArray[np.float32]


class Layers(NamedTuple):
    """Scratch: hidden units (rows, n) and their derivatives, outputs, and knots' values (16, n)."""

    h1: NDArray[np.float32]
    d1: NDArray[np.float32]
    h2: NDArray[np.float32]
    d2: NDArray[np.float32]
    outputs: NDArray[np.float64]
    knots: NDArray[np.float32]


class Scratch(NamedTuple):
    """What a step overwrites: inputs (3, 16, L), derivatives (1, S), and one array for the rest."""

    inputs: NDArray[np.float32]
    gradient: NDArray[np.float32]
    rest: NDArray[np.float32]
    outputs: NDArray[np.float64]


@compiled
def n_fixed(shape):  # type: ignore[no-untyped-def]
    """Number of weights that don't depend on the number of columns."""
    return shape.first * shape.second + shape.first + 2 * shape.second + PADDED


@compiled
def n_of_column(shape):  # type: ignore[no-untyped-def]
    """Number of weights of a column."""
    return shape.first + PADDED + SEGMENTS * shape.piecewise


@compiled
def n_scratch(shape):  # type: ignore[no-untyped-def]
    """Length of `Scratch.rest`."""
    layers = 2 * BATCH * (shape.first + shape.second) + KNOTS * shape.piecewise
    return layers + BATCH * shape.first + shape.first * shape.second


@compiled
def weights_of(w, shape):  # type: ignore[no-untyped-def]
    """Views of w (S,)."""
    n1, n2 = shape.first, shape.second
    a = n1 * n2
    b = a + n1
    c = n_fixed(shape)
    return Weights(
        w[:a].reshape(n1, n2),
        w[a:b].reshape(1, n1),
        w[b : b + n2].reshape(1, n2),
        w[b + n2 : b + 2 * n2].reshape(1, n2),
        w[b + 2 * n2 : c].reshape(1, PADDED),
        w[c:].reshape(-1, n_of_column(shape)),
    )


@compiled
def layers_of(scratch, rows, shape):  # type: ignore[no-untyped-def]
    """Views of the scratch for a batch of this many rows."""
    n1, n2 = shape.first, shape.second
    rest = scratch.rest
    a, b = BATCH * n1, BATCH * n2
    c = 2 * (a + b)
    return Layers(
        rest[:a].reshape(BATCH, n1)[:rows],
        rest[a : 2 * a].reshape(BATCH, n1)[:rows],
        rest[2 * a : 2 * a + b].reshape(BATCH, n2)[:rows],
        rest[2 * a + b : c].reshape(BATCH, n2)[:rows],
        scratch.outputs[:rows],
        rest[c : c + KNOTS * shape.piecewise].reshape(KNOTS, shape.piecewise),
    )


@compiled
def begin(shape, network, counter):  # type: ignore[no-untyped-def]
    """Draw new weights; an event's `counter` gives the same ones again.

    W1, W2 ~ N(0, 1.5 / fan-in), b1 ~ N(0, 1/4); the others are 0.
    """
    parameters = network.parameters
    parameters[:] = 0.0
    w = weights_of(parameters[WEIGHTS], shape)
    n1, n2, L = shape.first, shape.second, w.columns.shape[0]
    pairs = (n1 * n2 + n1 * (L + 1) + 1) // 2
    normals = np.empty(2 * pairs, np.float32)
    # Draws from the ring are the first numbers of the event's.
    start = counter_of(counter) + uint64(BATCH)
    fill_normals(network.key[0], start, pairs, np.empty(512, np.uint64), normals)
    k = 0
    for i in range(n1):
        w.b1[0, i] = 0.5 * normals[k]
        k += 1
        for j in range(n2):
            w.W2[i, j] = np.sqrt(1.5 / n1) * normals[k]
            k += 1
        for j in range(L):
            w.columns[j, i] = np.sqrt(1.5 / L) * normals[k]
            k += 1
    parameters[SHORT] = parameters[WEIGHTS]
    parameters[LONG] = parameters[WEIGHTS]
    network.record[STEPS] = 0.0


@compiled
def forward(shape, w, inputs, encoding, layers):  # type: ignore[no-untyped-def]
    """Fill the layers from inputs (3, rows, L), by weights w."""
    n1 = shape.first
    h1, h2 = layers.h1, layers.h2
    for i in range(h1.shape[0]):
        h1[i] = w.b1[0]
        h2[i] = w.b2[0]
    add_sparse_product(inputs[Z], w.columns[:, :n1], h1)
    if shape.piecewise > 0:
        for f in range(encoding.shape[0]):
            if encoding[f, LEVELS] >= 3.0:
                _add_piecewise(shape, w.columns, inputs, f, layers)
    activate(h1, layers.d1)
    add_product(h1, w.W2, h2)
    activate(h2, layers.d2)
    for i in range(h1.shape[0]):
        s = spread(0.0)
        for j in range(0, shape.second, LANES):
            s = s + load(h2, i, j) * load(w.w3, 0, j)
        o = w.b3[0, 0] + total(s)
        for f in range(encoding.shape[0]):
            o += inputs[Z, i, f] * w.columns[f, n1]
        layers.outputs[i] = o


@compiled
def _add_piecewise(shape, columns, inputs, f, layers):  # type: ignore[no-untyped-def]
    """Add column f's piecewise-linear functions to the first layer's last units."""
    knots, h1 = layers.knots, layers.h1
    start, last = shape.first + PADDED, shape.first - shape.piecewise
    for j in range(0, shape.piecewise, LANES):
        value = spread(0.0)
        for b in range(SEGMENTS):
            store(knots, b, j, value)
            value = value + load(columns, f, start + b * shape.piecewise + j)
        for i in range(h1.shape[0]):
            b = int(inputs[SEGMENT, i, f])
            if b >= 0:
                slope = load(columns, f, start + b * shape.piecewise + j)
                h = load(h1, i, last + j) + load(knots, b, j)
                store(h1, i, last + j, h + spread(inputs[FRACTION, i, f]) * slope)


@compiled
def backward(shape, w, inputs, encoding, targets, layers, scratch):  # type: ignore[no-untyped-def]
    """Fill the gradient with the Huber loss's, after `forward`; overwrites the layers."""
    n1, n2 = shape.first, shape.second
    g = weights_of(scratch.gradient[0], shape)
    rows, L = targets.shape[0], encoding.shape[0]
    h1, d1, h2, d2 = layers.h1, layers.d1, layers.h2, layers.d2
    begin_rest = 2 * BATCH * (n1 + n2) + KNOTS * shape.piecewise
    e1 = scratch.rest[begin_rest : begin_rest + BATCH * n1].reshape(BATCH, n1)
    back = scratch.rest[begin_rest + BATCH * n1 :].reshape(n2, n1)
    errors = layers.outputs
    summed = 0.0
    for i in range(rows):
        errors[i] = min(max(errors[i] - targets[i], -HUBER), HUBER) / rows
        summed += errors[i]
    g.b3[0, 0] = summed
    for f in range(L):
        s = 0.0
        for i in range(rows):
            s += errors[i] * inputs[Z, i, f]
        g.columns[f, n1] = s
    for j in range(0, n2, LANES):
        s, w3 = spread(0.0), load(w.w3, 0, j)
        for i in range(rows):
            e = spread(np.float32(errors[i]))
            s = s + e * load(h2, i, j)
            store(d2, i, j, load(d2, i, j) * e * w3)
        store(g.w3, 0, j, s)
    add_rows(d2, g.b2)
    g.W2[:] = 0.0
    add_product(h1.T, d2, g.W2)
    transpose(w.W2, back)
    e1[:] = 0.0
    add_product(d2, back, e1)
    for i in range(rows):
        for j in range(0, n1, LANES):
            store(d1, i, j, load(d1, i, j) * load(e1, i, j))
    add_rows(d1, g.b1)
    g.columns[:, :n1] = 0.0
    add_sparse_product(inputs[Z].T, d1, g.columns[:, :n1])
    if shape.piecewise > 0:
        for f in range(L):
            if encoding[f, LEVELS] >= 3.0:
                _sum_piecewise(shape, g.columns, inputs, f, layers)


@compiled
def _sum_piecewise(shape, columns, inputs, f, layers):  # type: ignore[no-untyped-def]
    """Derivatives of column f's increments: first those of the values at knots."""
    knots, d1 = layers.knots, layers.d1
    start, last = shape.first + PADDED, shape.first - shape.piecewise
    for j in range(0, shape.piecewise, LANES):
        for b in range(KNOTS):
            store(knots, b, j, spread(0.0))
        for i in range(d1.shape[0]):
            b = int(inputs[SEGMENT, i, f])
            if b >= 0:
                d = load(d1, i, last + j)
                upper = spread(inputs[FRACTION, i, f]) * d
                store(knots, b, j, load(knots, b, j) + (d - upper))
                store(knots, b + 1, j, load(knots, b + 1, j) + upper)
        s = spread(0.0)
        for b in range(SEGMENTS - 1, -1, -1):
            s = s + load(knots, b + 1, j)
            store(columns, f, start + b * shape.piecewise + j, s)


@compiled
def predict(shape, network, encoding, inputs, scratch, p):  # type: ignore[no-untyped-def]
    """p (3,): predictions from inputs (3, 1, L) by the weights and their averages, in sd."""
    layers = layers_of(scratch, 1, shape)
    rows = (WEIGHTS, SHORT, LONG)
    for k in range(3):
        w = weights_of(network.parameters[rows[k]], shape)
        forward(shape, w, inputs, encoding, layers)
        p[k] = min(max(layers.outputs[0], -FURTHEST_TARGET), FURTHEST_TARGET)


@compiled
def draw(shape, network, n, size, drawn):  # type: ignore[no-untyped-def]
    """drawn (16,) = the newest of n events and 15 uniform ones among the last `window`."""
    among = min(n, shape.window, size - N_LAGS)
    uniforms = np.empty(BATCH - 1)
    fill_uniforms(network.key[0], counter_of(n), BATCH - 1, uniforms)
    drawn[0] = n - 1
    for k in range(1, BATCH):
        drawn[k] = n - 1 - int(uniforms[k - 1] * among)


@compiled
def learn(shape, network, ring, encoding, target, scratch):  # type: ignore[no-untyped-def]
    """Take one step on the ring's newest event and on draws from it."""
    n = int(ring.record[EVENTS])
    if n < FIRST_STEP:
        return
    N = ring.targets.shape[0]
    drawn = np.empty(BATCH, np.int64)
    draw(shape, network, n, N, drawn)
    center, unit = center_and_unit(target)
    targets = np.empty(BATCH)
    inputs = scratch.inputs
    for k in range(BATCH):
        i = drawn[k]
        encode_stored(ring, encoding, i, inputs, k, shape.piecewise > 0)
        t = 3.0 * ((ring.targets[i % N] - center) / unit)
        targets[k] = min(max(t, -FURTHEST_TARGET), FURTHEST_TARGET)
    w = weights_of(network.parameters[WEIGHTS], shape)
    layers = layers_of(scratch, BATCH, shape)
    forward(shape, w, inputs, encoding, layers)
    backward(shape, w, inputs, encoding, targets, layers, scratch)
    _update(shape, network, encoding, scratch.gradient)
    draw(shape, network, n + 1, N, drawn)
    for k in range(1, BATCH):
        fetch(ring, drawn[k])


@compiled
def learning_rate(shape, step):  # type: ignore[no-untyped-def]
    """The rate of a step, counted from 1: it rises, and then falls slowly."""
    return shape.rate * min(1.0, step / WARM_UP) / np.sqrt(1.0 + step / shape.slowing)


@compiled
def _update(shape, network, encoding, gradient):  # type: ignore[no-untyped-def]
    """Move the weights by the gradient (1, S), and some of the averages."""
    network.record[STEPS] += 1.0
    step = network.record[STEPS]
    rate = learning_rate(shape, step)
    decay = DECAY / (1.0 + step / DECAY_EVENTS)
    short = min(1.0, TURNS * max(1.0 / (1.0 + SHORT_RATE * step), SHORT_LEAST))
    long = min(1.0, TURNS * max(1.0 / (1.0 + LONG_RATE * step), LONG_LEAST))
    parameters = network.parameters
    fixed, each = n_fixed(shape), n_of_column(shape)
    turn = int(step) % TURNS
    share = (fixed // LANES + TURNS - 1) // TURNS * LANES
    descend(parameters, gradient, 0, fixed, step, rate, decay)
    average(parameters, turn * share, min((turn + 1) * share, fixed), short, long)
    for f in range(encoding.shape[0]):
        first = fixed + f * each
        last = first + (each if encoding[f, LEVELS] >= 3.0 else shape.first + PADDED)
        descend(parameters, gradient, first, last, step, rate, decay)
        if f % TURNS == turn:
            average(parameters, first, last, short, long)
