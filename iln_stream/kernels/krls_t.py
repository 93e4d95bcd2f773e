"""Kernel recursive least squares with a tracking forgetting: see `experts.krls_t`.

The posterior of a Gaussian process given the past is kept by its values at up to M points with
kernel matrix K: their mean is K alpha, their covariance K - K reduction K. Forgetting back to the
prior by a factor lambda then only multiplies alpha by sqrt(lambda) and the reduction by lambda.
Arrays have room for one point more; unused places are 0.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.jit import compiled
from iln_stream.kernels.regression_event import fenced
from iln_stream.kernels.vectors import widest_vectors

EVENTS, N_POINTS, SCALE, SQUARES, BEGAN = range(5)
"""Indices into the record: events learned; points in use; the squared width of the kernel; the mean
squared norm of the inputs over about the last 1,000 events; events learned when it began."""

START = 64
"""Events after which there is a width: then the inputs' size is known."""

SPAN = 1000.0
"""Number of events over which the inputs' size is averaged, about."""

TOLERANCE = 2.0
"""The width fits inputs whose mean squared norm is at most this many times larger or smaller."""

JITTER = 1e-4
"""Added to the kernel matrix's diagonal, so that its inverse keeps its digits."""

REDUNDANT = 10.0 * JITTER
"""A point with less prior variance given the others is not kept."""


class Basis(NamedTuple):
    """The points (d, B), the kernel matrix's inverse and the reduction (B, B), and alpha (B,)."""

    points: NDArray[np.float64]
    inverse: NDArray[np.float64]
    reduction: NDArray[np.float64]
    alpha: NDArray[np.float64]


@compiled
def predict(basis, record, z, k):  # type: ignore[no-untyped-def]
    """Fill k (B,), the kernel of z (d,) with the points; return the mean at z, as `fenced`.

    It is 0 before there is a width.
    """
    if record[SCALE] == 0.0:
        return 0.0
    basis = Basis(*basis)
    widest_vectors()
    m = int(record[N_POINTS])
    points, B = basis.points, k.shape[0]
    for b in range(B):
        k[b] = 0.0
    for j in range(z.shape[0]):
        for b in range(B):
            k[b] += (points[j, b] - z[j]) ** 2
    mean = 0.0
    for b in range(B):
        k[b] = np.exp(-0.5 * k[b] / record[SCALE]) if b < m else 0.0
        mean += k[b] * basis.alpha[b]
    return fenced(mean)


@compiled
def learn_event(basis, record, z, k, t, weight, forgetting, noise):  # type: ignore[no-untyped-def]
    """Count an event, and learn it once there is a width of the kernel.

    The noise's variance is that of an event of weight 1; of another, it is divided by the weight.
    Returns whether the width has yet to be found or no longer fits the inputs: nothing is learned
    then.
    """
    record[EVENTS] += 1.0
    size = 0.0
    for j in range(z.shape[0]):
        size += z[j] * z[j]
    record[SQUARES] += (size - record[SQUARES]) / min(record[EVENTS], SPAN)
    scale, squares = record[SCALE], record[SQUARES]
    fits = squares <= TOLERANCE * scale and scale <= TOLERANCE * squares
    if record[EVENTS] >= START and squares > 0.0 and not fits:
        return True
    if scale > 0.0:
        learn(basis, record, z, k, t, forgetting, noise / weight)
    return False


@compiled
def learn(basis, record, z, k, t, forgetting, noise):  # type: ignore[no-untyped-def]
    """Learn t at z, where k was filled by `predict`, and leave out the least useful point."""
    basis = Basis(*basis)
    widest_vectors()
    m, B = int(record[N_POINTS]), k.shape[0]
    inverse, reduction, alpha = basis.inverse, basis.reduction, basis.alpha
    q, s = np.empty(B), np.empty(B)
    known = reduced = mean = 0.0
    for b in range(B):
        a = c = 0.0
        for i in range(B):
            a += inverse[b, i] * k[i]
            c += reduction[b, i] * k[i]
        alpha[b] *= np.sqrt(forgetting)
        q[b], s[b] = a, -forgetting * c
        known += k[b] * a
        reduced += k[b] * forgetting * c
        mean += k[b] * alpha[b]
    prior = max(1.0 + JITTER - known, JITTER)  # variance at z given the values at the points
    variance = noise + max(1.0 + JITTER - reduced, 0.0)
    step = (t - mean) / variance
    if prior < REDUNDANT:  # the posterior is projected on the points there are
        for b in range(B):
            s[b] += q[b]
            alpha[b] += step * s[b]
        for b in range(B):
            y = s[b] / variance
            for i in range(B):
                reduction[b, i] = forgetting * reduction[b, i] + y * s[i]
        return
    q[m], s[m] = -1.0, 1.0
    for j in range(z.shape[0]):
        basis.points[j, m] = z[j]
    for b in range(B):
        alpha[b] += step * s[b]
    u, w = np.zeros(B), np.zeros(B)
    pivot = rest = 0.0
    r = B
    if m == B - 1:
        r = _least_useful(basis, q, prior)
        pivot = inverse[r, r] + q[r] * q[r] / prior
        rest = forgetting * reduction[r, r] + s[r] * s[r] / variance
        weight = alpha[r]
        for b in range(B):
            u[b] = (inverse[b, r] + q[b] * q[r] / prior) / pivot
            w[b] = forgetting * reduction[b, r] + s[b] * s[r] / variance
            alpha[b] -= weight * u[b]
    # Point m joins, and the posterior is projected on the points other than r, in one pass.
    for b in range(B):
        x, y = q[b] / prior, s[b] / variance
        x_left, y_left = pivot * u[b], rest * u[b] - w[b]
        for i in range(B):
            inverse[b, i] += x * q[i] - x_left * u[i]
            joined = forgetting * reduction[b, i] + y * s[i]
            reduction[b, i] = joined + (y_left * u[i] - u[b] * w[i])
    if m == B - 1:
        _move(basis, m, r)
    else:
        record[N_POINTS] = m + 1.0


@compiled
def _least_useful(basis, q, prior):  # type: ignore[no-untyped-def]
    """The point whose value the others predict best, with the new point among them."""
    least, found = np.inf, 0
    for b in range(q.shape[0]):
        error = abs(basis.alpha[b]) / (basis.inverse[b, b] + q[b] * q[b] / prior)
        if error < least:
            least, found = error, b
    return found


@compiled
def _move(basis, last, r):  # type: ignore[no-untyped-def]
    """Put the last point in the place of r."""
    for matrix in (basis.inverse, basis.reduction):
        for b in range(matrix.shape[0]):
            matrix[r, b] = matrix[last, b]
        for b in range(matrix.shape[0]):
            matrix[b, r] = matrix[b, last]
        matrix[r, r] = matrix[last, last]
        for b in range(matrix.shape[0]):
            matrix[last, b] = matrix[b, last] = 0.0
    basis.alpha[r] = basis.alpha[last]
    basis.alpha[last] = 0.0
    for j in range(basis.points.shape[0]):
        basis.points[j, r] = basis.points[j, last]
