"""A network's outputs, and the derivatives of its loss; see `network_layout` for the formulas."""

from numba import float32

from iln_stream.compiled.jit import compiled
from iln_stream.compiled.matrix_product import add_rows, set_product, set_sparse_product, transpose
from iln_stream.compiled.network_layout import BATCH, SEGMENTS, padded, weights_of
from iln_stream.compiled.replay_ring import FRACTION, KNOTS, LEVELS, SEGMENT, Z
from iln_stream.compiled.wide_activations import activate
from iln_stream.compiled.wide_lanes import LANES, larger, load, smaller, spread, store, total

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
    activate(h1, scratch.d1)
    set_product(h1, w.W2, w.b2, h2)
    activate(h2, scratch.d2)
    for c in range(shape.outputs):
        skipped = spread(w.b3[0, c])
        for f in range(encoding.shape[0]):
            skipped = skipped + load(z, f, 0) * spread(w.columns[f, n1 + c])
        store(scratch.outputs, c, 0, skipped)
        for i in range(rows):
            s = spread(0.0)
            for j in range(0, shape.second, LANES):
                s = s + load(h2, i, j) * load(w.w3, c, j)
            scratch.outputs[c, i] += total(s)


@compiled
def _add_piecewise(shape, columns, inputs, f, knots, h1):  # type: ignore[no-untyped-def]
    """Add column f's piecewise-linear functions to the first layer's last units."""
    n = shape.piecewise
    start, last = shape.first + padded(shape), shape.first - n
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
    start, last = shape.first + padded(shape), shape.first - n
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
        for j in range(0, n1, LANES):
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
    for j in range(0, h2.shape[1], LANES):
        s, w3 = spread(0.0), load(w.w3, 0, j)
        for i in range(BATCH):
            error = spread(errors[0, i])
            s = s + error * load(h2, i, j)
            store(d2, i, j, load(d2, i, j) * error * w3)
        store(g.w3, 0, j, s)


@compiled
def _propagate_several(w, g, h2, d2, errors):  # type: ignore[no-untyped-def]
    """Do `_propagate_one`'s work for several outputs."""
    for j in range(0, h2.shape[1], LANES):
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
