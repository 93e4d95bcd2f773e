"""One event of a network whose outputs are the logits of classes; see `replayed_network`.

Two classes have one logit, of the second; more have one each. The classes' log frequencies, the
offsets, are added to the logits, also where past events are replayed: the network learns the rest.
"""

import numpy as np
from numba import float32

from iln_stream.compiled.adam import LONG, SHORT, WEIGHTS
from iln_stream.compiled.jit import compiled
from iln_stream.compiled.network_gradient import forward, propagate
from iln_stream.compiled.network_layout import BATCH, Network, Shape, scratch_of, weights_of
from iln_stream.compiled.replay_ring import EVENTS, Ring, encode, fetch, gather, weigh
from iln_stream.compiled.replayed_network import FIRST_STEP, Pace, draw, update


@compiled
def predict(shape, network, encoding, inputs, offsets, array, p):  # type: ignore[no-untyped-def]
    """p (2, C): probabilities by the averages of the weights, at inputs of one event.

    `shape` and `network` are plain tuples, as in `replayed_network`; offsets (C,).
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
def learn(shape, network, ring, encoding, offsets, pace, array):  # type: ignore[no-untyped-def]
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
