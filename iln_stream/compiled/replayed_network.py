"""A network of two hidden layers, trained online by AdamW on each event and on past ones.

o = b3 + w3.h2 + skip.z, h2 = sigma(W2'h1 + b2), h1 = sigma(W1'z + b1 + ..). z are the columns'
deviations; sigma is tanh in the first half of a layer and SiLU in the second. The last `piecewise`
units of the first layer also add a piecewise-linear function of each column, given by its
increments over the segments between quantiles (Y. Gorishniy, I. Rubachev, A. Babenko. On Embeddings
for Numerical Features in Tabular Deep Learning. NeurIPS 2022).
"""

from typing import NamedTuple

import numpy as np
from numba import float32, uint64
from numpy.typing import NDArray

from iln_stream.compiled.adam import LONG, SHORT, WEIGHTS, average, descend
from iln_stream.compiled.counter_rng import counter_of, fill_normals, fill_uniforms
from iln_stream.compiled.jit import compiled
from iln_stream.compiled.matrix_product import add_rows, set_product, set_sparse_product, transpose
from iln_stream.compiled.replay_ring import (
    EVENTS,
    FRACTION,
    KNOTS,
    LEVELS,
    N_LAGS,
    SEGMENT,
    Ring,
    Z,
    encode,
    fetch,
    gather,
)
from iln_stream.compiled.target import FENCE, WIDTH, center_and_unit, scaled
from iln_stream.compiled.wide_activations import activate
from iln_stream.compiled.wide_lanes import LANES, larger, load, smaller, spread, store, total

BATCH = 16
"""Rows in a step: the event, and draws from the ring."""

FIRST_STEP = 9
"""Events before the first step."""

HUBER = 3.0
"""Errors beyond this many standard deviations count linearly."""

WARM_UP = 100.0
"""Steps during which the rate rises."""

DECAY, DECAY_STEPS = 0.5, 1000.0
"""Weight decay, as a multiple of the rate, and the number of steps that halves it."""

SHORT_RATE, SHORT_LEAST = 0.02, 1e-4
LONG_RATE, LONG_LEAST = 0.1, 1e-5
"""The averages move by max(1 / (1 + rate s), least) in step s."""

TURNS, EARLY = 8, 512
"""From this step on, a step averages an eighth of the weights, at eight times the fraction."""

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


class Scratch(NamedTuple):
    """What a step overwrites, for 16 rows.

    Hidden units (16, n) and their derivatives d; the errors' derivatives by the first layer's
    units, e1 (16, first); outputs, and targets or errors (1, 16); zeros, which stay so (1, n);
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


@compiled
def n_fixed(shape):  # type: ignore[no-untyped-def]
    """Number of weights that don't depend on the number of columns."""
    return shape.first * shape.second + shape.first + 2 * shape.second + PADDED


@compiled
def n_of_column(shape):  # type: ignore[no-untyped-def]
    """Number of weights of a column."""
    return shape.first + PADDED + SEGMENTS * shape.piecewise


@compiled
def n_scratch(shape, L):  # type: ignore[no-untyped-def]
    """Length of a scratch array."""
    layers = BATCH * (3 * shape.first + 2 * shape.second + 2) + max(shape.first, shape.second)
    weights = shape.first * shape.second + n_fixed(shape) + L * n_of_column(shape)
    return layers + KNOTS * shape.piecewise + weights + 4 * L * BATCH


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
def scratch_of(array, shape, L):  # type: ignore[no-untyped-def]
    """Views of a scratch array."""
    n1, n2 = shape.first, shape.second
    a, b, c = BATCH * n1, BATCH * n2, KNOTS * shape.piecewise
    at_h2 = 3 * a
    at_outputs = at_h2 + 2 * b
    at_zeros = at_outputs + 2 * BATCH
    at_knots = at_zeros + max(n1, n2)
    at_transposed = at_knots + c
    at_gradient = at_transposed + n1 * n2
    at_inputs = at_gradient + n_fixed(shape) + L * n_of_column(shape)
    at_values = at_inputs + 3 * L * BATCH
    return Scratch(
        array[:a].reshape(BATCH, n1),
        array[a : 2 * a].reshape(BATCH, n1),
        array[2 * a : 3 * a].reshape(BATCH, n1),
        array[at_h2 : at_h2 + b].reshape(BATCH, n2),
        array[at_h2 + b : at_h2 + 2 * b].reshape(BATCH, n2),
        array[at_outputs : at_outputs + BATCH].reshape(1, BATCH),
        array[at_outputs + BATCH : at_zeros].reshape(1, BATCH),
        array[at_zeros:at_knots].reshape(1, at_knots - at_zeros),
        array[at_knots:at_transposed].reshape(KNOTS, shape.piecewise),
        array[at_transposed:at_gradient].reshape(n2, n1),
        array[at_gradient:at_inputs].reshape(1, at_inputs - at_gradient),
        array[at_inputs:at_values].reshape(3, L, BATCH),
        array[at_values : at_values + L * BATCH].reshape(L, BATCH),
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
    parameters[SHORT] = parameters[WEIGHTS]
    parameters[LONG] = parameters[WEIGHTS]
    network.record[STEPS] = 0.0


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
    activate(h1, scratch.d1)
    set_product(h1, w.W2, w.b2, h2)
    activate(h2, scratch.d2)
    skipped = spread(w.b3[0, 0])
    for f in range(encoding.shape[0]):
        skipped = skipped + load(z, f, 0) * spread(w.columns[f, n1])
    store(scratch.outputs, 0, 0, skipped)
    for i in range(rows):
        s = spread(0.0)
        for j in range(0, shape.second, LANES):
            s = s + load(h2, i, j) * load(w.w3, 0, j)
        scratch.outputs[0, i] += total(s)


@compiled
def _add_piecewise(shape, columns, inputs, f, knots, h1):  # type: ignore[no-untyped-def]
    """Add column f's piecewise-linear functions to the first layer's last units."""
    n = shape.piecewise
    start, last = shape.first + PADDED, shape.first - n
    for j in range(0, n, LANES):
        value = spread(0.0)
        for b in range(SEGMENTS):
            store(knots, b, j, value)
            value = value + load(columns, f, start + b * n + j)
    for i in range(h1.shape[0]):
        b = int(inputs[SEGMENT, f, i])
        if b >= 0:
            part = spread(inputs[FRACTION, f, i])
            for j in range(0, n, LANES):
                added = load(knots, b, j) + part * load(columns, f, start + b * n + j)
                store(h1, i, last + j, load(h1, i, last + j) + added)


@compiled
def _add_piecewise_of_one(shape, columns, inputs, f, h1):  # type: ignore[no-untyped-def]
    """Do `_add_piecewise`'s work for one row: it needs no values at other knots than its own."""
    n = shape.piecewise
    start, last = shape.first + PADDED, shape.first - n
    segment = int(inputs[SEGMENT, f, 0])
    if segment >= 0:
        part = spread(inputs[FRACTION, f, 0])
        for j in range(0, n, LANES):
            h = load(h1, 0, last + j)
            for b in range(segment):
                h = h + load(columns, f, start + b * n + j)
            h = h + part * load(columns, f, start + segment * n + j)
            store(h1, 0, last + j, h)


@compiled
def backward(shape, w, encoding, scratch):  # type: ignore[no-untyped-def]
    """Fill the gradient of the Huber loss's mean over 16 rows, after `forward`.

    Targets are replaced by derivatives by the outputs, and the layers' derivatives by those of the
    loss by preactivations.
    """
    n1, n2 = shape.first, shape.second
    g = weights_of(scratch.gradient[0], shape)
    h2, d1, d2, errors = scratch.h2, scratch.d1, scratch.d2, scratch.errors
    huber, z = spread(float32(HUBER)), scratch.inputs[Z]
    e = load(scratch.outputs, 0, 0) - load(errors, 0, 0)
    e = smaller(larger(e, spread(0.0) - huber), huber) * spread(float32(1.0 / BATCH))
    store(errors, 0, 0, e)
    g.b3[0, 0] = total(e)
    for f in range(encoding.shape[0]):
        g.columns[f, n1] = total(e * load(z, f, 0))
    for j in range(0, n2, LANES):
        s, w3 = spread(0.0), load(w.w3, 0, j)
        for i in range(BATCH):
            error = spread(errors[0, i])
            s = s + error * load(h2, i, j)
            store(d2, i, j, load(d2, i, j) * error * w3)
        store(g.w3, 0, j, s)
    add_rows(d2, g.b2)
    set_product(scratch.h1.T, d2, scratch.zeros, g.W2)
    transpose(w.W2, scratch.transposed)
    set_product(d2, scratch.transposed, scratch.zeros, scratch.e1)
    for i in range(BATCH):
        for j in range(0, n1, LANES):
            store(d1, i, j, load(d1, i, j) * load(scratch.e1, i, j))
    add_rows(d1, g.b1)
    set_sparse_product(z, d1, scratch.zeros, g.columns[:, :n1])
    if shape.piecewise > 0:
        for f in range(encoding.shape[0]):
            if encoding[f, LEVELS] >= 3.0:
                _sum_piecewise(shape, g.columns, scratch.inputs, f, scratch.knots, d1)


@compiled
def _sum_piecewise(shape, columns, inputs, f, knots, d1):  # type: ignore[no-untyped-def]
    """Derivatives by column f's increments, from those by the values at knots."""
    n = shape.piecewise
    start, last = shape.first + PADDED, shape.first - n
    for b in range(KNOTS):
        for j in range(0, n, LANES):
            store(knots, b, j, spread(0.0))
    for i in range(BATCH):
        b = int(inputs[SEGMENT, f, i])
        if b >= 0:
            part = spread(inputs[FRACTION, f, i])
            for j in range(0, n, LANES):
                d = load(d1, i, last + j)
                upper = part * d
                store(knots, b, j, load(knots, b, j) + (d - upper))
                store(knots, b + 1, j, load(knots, b + 1, j) + upper)
    for j in range(0, n, LANES):
        s = spread(0.0)
        for b in range(SEGMENTS - 1, -1, -1):
            s = s + load(knots, b + 1, j)
            store(columns, f, start + b * n + j, s)


@compiled
def predict(shape, network, encoding, inputs, array, p):  # type: ignore[no-untyped-def]
    """p (3,): predictions by the weights and their averages, in the target's units.

    Inputs (3, L, 16) have one event. `shape` and `network` are plain tuples, which numba recognises
    faster than named ones; `array` is for scratch.
    """
    shape, network = Shape(*shape), Network(*network)
    scratch = scratch_of(array, shape, encoding.shape[0])
    for k in range(3):
        row = WEIGHTS if k == 0 else (SHORT if k == 1 else LONG)
        w = weights_of(network.parameters[row], shape)
        forward(shape, w, inputs, encoding, scratch, 1)
        o = scratch.outputs[0, 0] / WIDTH
        p[k] = min(max(o, -FENCE), FENCE)


@compiled
def draw(shape, network, n, size, drawn):  # type: ignore[no-untyped-def]
    """drawn (16,) = the newest of n events, and 15 uniform ones among the last in a ring."""
    among = min(n, shape.window, size - N_LAGS)
    uniforms = np.empty(BATCH - 1)
    fill_uniforms(network.key[0], counter_of(n), BATCH - 1, uniforms)
    drawn[0] = n - 1
    for k in range(1, BATCH):
        drawn[k] = n - 1 - int(uniforms[k - 1] * among)


@compiled
def learn(shape, network, ring, encoding, target, array):  # type: ignore[no-untyped-def]
    """Take one step on the ring's newest event and on draws; plain tuples as in `predict`."""
    shape, network, ring = Shape(*shape), Network(*network), Ring(*ring)
    n, N = int(ring.record[EVENTS]), ring.targets.shape[0]
    if n < FIRST_STEP:
        return
    scratch = scratch_of(array, shape, encoding.shape[0])
    drawn = np.empty(BATCH, np.int64)
    draw(shape, network, n, N, drawn)
    gather(ring, encoding, drawn, scratch.values)
    encode(scratch.values, encoding, scratch.inputs, shape.piecewise > 0)
    center, unit = center_and_unit(target)
    for k in range(BATCH):
        scratch.errors[0, k] = WIDTH * scaled(ring.targets[drawn[k] % N], center, unit)
    w = weights_of(network.parameters[WEIGHTS], shape)
    forward(shape, w, scratch.inputs, encoding, scratch, BATCH)
    backward(shape, w, encoding, scratch)
    update(shape, network, encoding, scratch.gradient)
    draw(shape, network, n + 1, N, drawn)
    for k in range(1, BATCH):
        fetch(ring, drawn[k])


@compiled
def learning_rate(shape, step):  # type: ignore[no-untyped-def]
    """The rate of a step, counted from 1: it rises, and then falls slowly."""
    return shape.rate * min(1.0, step / WARM_UP) / np.sqrt(1.0 + step / shape.slowing)


@compiled
def update(shape, network, encoding, gradient):  # type: ignore[no-untyped-def]
    """Move the weights by the gradient (1, S), and averages of some or all of them."""
    network.record[STEPS] += 1.0
    step = network.record[STEPS]
    rate = learning_rate(shape, step)
    decay = DECAY / (1.0 + step / DECAY_STEPS)
    turns = 1 if step < EARLY else TURNS
    short = min(1.0, turns * max(1.0 / (1.0 + SHORT_RATE * step), SHORT_LEAST))
    long = min(1.0, turns * max(1.0 / (1.0 + LONG_RATE * step), LONG_LEAST))
    parameters = network.parameters
    fixed, each = n_fixed(shape), n_of_column(shape)
    turn = int(step) % turns
    share = (fixed // LANES + turns - 1) // turns * LANES
    descend(parameters, gradient, 0, fixed, step, rate, decay)
    average(parameters, turn * share, min((turn + 1) * share, fixed), short, long)
    for f in range(encoding.shape[0]):
        first = fixed + f * each
        last = first + (each if encoding[f, LEVELS] >= 3.0 else shape.first + PADDED)
        descend(parameters, gradient, first, last, step, rate, decay)
        if f % turns == turn:
            average(parameters, first, last, short, long)
