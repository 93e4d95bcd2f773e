"""One event of the networks that go on learning: of a target, and of classes.

Two classes have one logit, of the second; more have one each. The classes' log frequencies, the
offsets, are added to the logits, also where past events are replayed: the network learns the rest.
"""

from typing import NamedTuple

import numpy as np
from numba import float32

from iln_stream.kernels.jit import compiled
from iln_stream.kernels.networks import (
    BATCH,
    LONG,
    SHORT,
    STEPS,
    WEIGHTS,
    Network,
    Shape,
    average,
    descend,
    differentiate,
    forward,
    n_fixed,
    n_of_column,
    padded,
    propagate,
    scratch_of,
    weights_of,
)
from iln_stream.kernels.random import counter_of, fill_uniforms
from iln_stream.kernels.regression_event import FENCE, WIDTH, center_and_unit, scaled
from iln_stream.kernels.replay_ring import (
    EVENTS,
    FILL,
    INVERSE,
    LEVELS,
    MISSING,
    N_LAGS,
    Ring,
    encode,
    encode_next,
    fetch,
    first_kept,
    gather,
    put_event,
    weigh,
)
from iln_stream.kernels.vectors import WIDE_LANES

FIRST_STEP = 9
"""The event with which the first step is taken."""

WARM_UP = 100.0
"""Steps during which the rate rises."""

SHORT_RATE, LONG_RATE = 0.02, 0.1
"""The averages move by max(1 / (1 + rate s), least) in step s."""

RECENT, STEP = 256, 0.1
"""Slopes are between inputs of the last events and others, this many deviations away."""

TURNS, EARLY = 8, 512
"""From this step on, a step averages an eighth of the weights, at eight times the fraction."""


class Pace(NamedTuple):
    """How a network forgets.

    Parameters
    ----------
    decay
        Weight decay, which the rate multiplies, in the first steps.
    decay_steps
        Number of steps that halves it.
    short_least, long_least
        Least moves of the averages in a step, as fractions of their distance from the weights.

    """

    decay: float
    decay_steps: float
    short_least: float
    long_least: float


PACE = Pace(0.5, 1000.0, 1e-4, 1e-5)


@compiled
def predict_networks(networks, ring, encoding, row, delay, values, inputs, p):  # type: ignore[no-untyped-def]
    """p: predictions of networks for the raw row, as scaled targets; values and inputs are scratch.

    `networks` has plain tuples: shape, network, rows (n,) of parameters to predict by, and scratch.
    Before the first event they predict 0; and nan if the number of events is not finite.
    """
    n = Ring(*ring).record[EVENTS]
    if n == 0.0 or not abs(n) < np.inf:
        p[:] = n - n
        return
    encode_next(ring, encoding, row, delay, values, inputs)
    at = 0
    for i in range(len(networks)):
        shape, network, rows, array = networks[i]
        shape, network = Shape(*shape), Network(*network)
        scratch = scratch_of(array, shape, encoding.shape[0])
        for k in range(rows.shape[0]):
            w = weights_of(network.parameters[rows[k]], shape)
            forward(shape, w, inputs, encoding, scratch, 1)
            p[at] = min(max(scratch.outputs[0, 0] / WIDTH, -FENCE), FENCE)
            at += 1


@compiled
def learn_networks(networks, ring, encoding, row, y, delay, weight, stats, target):  # type: ignore[no-untyped-def]
    """Store an event as `put_event` does, and let each of these networks take a step."""
    put_event(ring, encoding, row, y, delay, weight, stats, target)
    for i in range(len(networks)):
        shape, network, _, array = networks[i]
        learn_network(shape, network, ring, encoding, target, array)


@compiled
def sensitivity(shape, network, ring, encoding, array, squares):  # type: ignore[no-untyped-def]
    """squares (L,): mean squared slopes of the averaged network along the columns' deviations.

    Over 16 of the last 256 events, by differences; 0 for last targets.
    """
    shape, network, ring = Shape(*shape), Network(*network), Ring(*ring)
    L, n = encoding.shape[0], int(ring.record[EVENTS])
    scratch = scratch_of(array, shape, L)
    drawn, flat, moved = np.empty(BATCH, np.int64), np.empty(BATCH), np.empty(BATCH, np.float32)
    apart = max(min(n, ring.targets.shape[0] - N_LAGS, RECENT) // BATCH, 1)
    for k in range(BATCH):
        drawn[k] = max(n - 1 - k * apart, 0)
    gather(ring, encoding, drawn, scratch.values)
    w = weights_of(network.parameters[LONG], shape)
    squares[:] = 0.0
    for f in range(N_LAGS - 1, L):  # the first time, no column moves: `forward` is inlined once
        if f >= N_LAGS:
            if encoding[f, INVERSE] <= 0.0:
                continue
            for k in range(BATCH):
                moved[k] = scratch.values[f, k]
                value = moved[k] if moved[k] < MISSING else encoding[f, FILL]
                scratch.values[f, k] = value + STEP / encoding[f, INVERSE]
        encode(scratch.values, encoding, scratch.inputs, shape.piecewise > 0)
        forward(shape, w, scratch.inputs, encoding, scratch, BATCH)
        for k in range(BATCH):
            if f < N_LAGS:
                flat[k] = scratch.outputs[0, k]
            else:
                squares[f] += ((scratch.outputs[0, k] - flat[k]) / STEP) ** 2 / BATCH
                scratch.values[f, k] = moved[k]


@compiled
def draw(shape, network, n, size, drawn):  # type: ignore[no-untyped-def]
    """drawn (16,) = the newest of n events, and 15 uniform ones among the last in a ring."""
    first = first_kept(n, size)
    among = min(shape.window, n - first - (N_LAGS if first > 0 else 0))
    uniforms = np.empty(BATCH - 1)
    fill_uniforms(network.key[0], counter_of(n), BATCH - 1, uniforms)
    drawn[0] = n - 1
    for k in range(1, BATCH):
        drawn[k] = n - 1 - int(uniforms[k - 1] * among)


@compiled
def learn_network(shape, network, ring, encoding, target, array):  # type: ignore[no-untyped-def]
    """Take one step on the ring's newest event and on draws; of plain tuples."""
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
    differentiate(scratch)
    weigh(ring, drawn, scratch.errors)
    propagate(shape, w, encoding, scratch)
    update(shape, network, encoding, scratch.gradient, PACE)
    draw(shape, network, n + 1, N, drawn)
    for k in range(1, BATCH):
        fetch(ring, drawn[k])


@compiled
def learning_rate(shape, step):  # type: ignore[no-untyped-def]
    """The rate of a step, counted from 1: it rises, and then falls slowly."""
    return shape.rate * min(1.0, step / WARM_UP) / np.sqrt(1.0 + step / shape.slowing)


@compiled
def update(shape, network, encoding, gradient, pace):  # type: ignore[no-untyped-def]
    """Move the weights by the gradient (1, S), and averages of some or all of them."""
    network.record[STEPS] += 1.0
    step = network.record[STEPS]
    rate = learning_rate(shape, step)
    decay = pace.decay / (1.0 + step / pace.decay_steps)
    turns = 1 if step < EARLY else TURNS
    short = min(1.0, turns * max(1.0 / (1.0 + SHORT_RATE * step), pace.short_least))
    long = min(1.0, turns * max(1.0 / (1.0 + LONG_RATE * step), pace.long_least))
    parameters = network.parameters
    fixed, each = n_fixed(shape), n_of_column(shape)
    turn = int(step) % turns
    share = (fixed // WIDE_LANES + turns - 1) // turns * WIDE_LANES
    descend(parameters, gradient, 0, fixed, step, rate, decay)
    average(parameters, turn * share, min((turn + 1) * share, fixed), short, long)
    for f in range(encoding.shape[0]):
        first = fixed + f * each
        last = first + (each if encoding[f, LEVELS] >= 3.0 else shape.first + padded(shape))
        descend(parameters, gradient, first, last, step, rate, decay)
        if f % turns == turn:
            average(parameters, first, last, short, long)


@compiled
def predict_class_network(shape, network, encoding, inputs, offsets, array, p):  # type: ignore[no-untyped-def]
    """p (2, C): probabilities by the averages of the weights, at inputs of one event.

    `shape` and `network` are plain tuples; offsets (C,).
    """
    shape, network = Shape(*shape), Network(*network)
    scratch = scratch_of(array, shape, encoding.shape[0])
    for k in range(2):
        w = weights_of(network.parameters[SHORT if k == 0 else LONG], shape)
        forward(shape, w, inputs, encoding, scratch, 1)
        probabilities(scratch.outputs, 0, offsets, p[k])


@compiled
def probabilities(outputs, i, offsets, p):  # type: ignore[no-untyped-def]
    """p (C,) of row i's outputs (O, 16); not finite if these are not."""
    C = p.shape[0]
    if C == 1:
        p[0] = 1.0 + 0.0 * outputs[0, i]
    elif C == 2:
        p[1] = 1.0 / (1.0 + np.exp(offsets[0] - offsets[1] - outputs[0, i]))
        p[0] = 1.0 - p[1]
    else:
        top = -np.inf
        for c in range(C):
            top = max(top, outputs[c, i] + offsets[c])
        total = 0.0
        for c in range(C):
            p[c] = np.exp(outputs[c, i] + offsets[c] - top)
            total += p[c]
        for c in range(C):
            p[c] /= total


@compiled
def learn_class_network(shape, network, ring, encoding, offsets, pace, array):  # type: ignore[no-untyped-def]
    """Take one step on the ring's newest event and on draws; its targets are the classes' indices.

    `pace` is a plain tuple as well.
    """
    shape, network, ring = Shape(*shape), Network(*network), Ring(*ring)
    n, N = int(ring.record[EVENTS]), ring.targets.shape[0]
    if n < FIRST_STEP:
        return
    scratch = scratch_of(array, shape, encoding.shape[0])
    drawn = np.empty(BATCH, np.int64)
    draw(shape, network, n, N, drawn)
    gather(ring, encoding, drawn, scratch.values)
    encode(scratch.values, encoding, scratch.inputs, shape.piecewise > 0)
    w = weights_of(network.parameters[WEIGHTS], shape)
    forward(shape, w, scratch.inputs, encoding, scratch, BATCH)
    p = np.empty(offsets.shape[0])
    for k in range(BATCH):
        label = int(ring.targets[drawn[k] % N])
        probabilities(scratch.outputs, k, offsets, p)
        for c in range(shape.outputs):
            j = 1 if shape.outputs == 1 else c
            hit = 1.0 if j == label else 0.0
            scratch.errors[c, k] = float32((p[j] - hit) / BATCH)
    weigh(ring, drawn, scratch.errors)
    propagate(shape, w, encoding, scratch)
    update(shape, network, encoding, scratch.gradient, Pace(*pace))
    draw(shape, network, n + 1, N, drawn)
    for k in range(1, BATCH):
        fetch(ring, drawn[k])
