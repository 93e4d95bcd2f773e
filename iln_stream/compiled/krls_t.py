"""Kernel recursive least squares with a tracking forgetting: see `experts.krls_t`.

The posterior of a Gaussian process given the past is kept by its values at up to M points with
kernel matrix K: their mean is K alpha, their covariance K - K reduction K. Forgetting back to the
prior by a factor lambda then only multiplies alpha by sqrt(lambda) and the reduction by lambda.
Arrays have room for one point more; unused places are 0.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled.jit import compiled
from iln_stream.compiled.wide import widest_vectors

EVENTS, N_POINTS, SCALE, SQUARES, BEGAN = range(5)
"""Indices into the record: events learned; points in use; the squared width of the kernel; the mean
squared norm of the inputs over about the last 1,000 events; events learned when it began."""

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
    """Fill k (B,), the kernel of z (d,) with the points, and return the mean at z."""
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
    return mean


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
    redundant = prior < REDUNDANT
    if redundant:  # the posterior is projected on the points there are
        for b in range(B):
            s[b] += q[b]
    else:
        q[m], s[m] = -1.0, 1.0
        for j in range(z.shape[0]):
            basis.points[j, m] = z[j]
        for b in range(B):
            x = q[b] / prior
            for i in range(B):
                inverse[b, i] += x * q[i]
    for b in range(B):
        alpha[b] += (t - mean) / variance * s[b]
        y = s[b] / variance
        for i in range(B):
            reduction[b, i] = forgetting * reduction[b, i] + y * s[i]
    if not redundant:
        if m == B - 1:
            _leave_out(basis, _least_useful(basis), m)
        else:
            record[N_POINTS] = m + 1.0


@compiled
def _least_useful(basis):  # type: ignore[no-untyped-def]
    """The point whose value the others predict best."""
    least, found = np.inf, 0
    for b in range(basis.alpha.shape[0]):
        error = abs(basis.alpha[b]) / basis.inverse[b, b]
        if error < least:
            least, found = error, b
    return found


@compiled
def _leave_out(basis, r, last):  # type: ignore[no-untyped-def]
    """Project the posterior on the points other than r, and move the last point to r's place."""
    points, inverse, reduction, alpha = basis.points, basis.inverse, basis.reduction, basis.alpha
    B = alpha.shape[0]
    u, w = np.empty(B), np.empty(B)
    for b in range(B):
        u[b], w[b] = inverse[b, r] / inverse[r, r], reduction[b, r]
    pivot, rest, weight = inverse[r, r], reduction[r, r], alpha[r]
    for b in range(B):
        alpha[b] -= weight * u[b]
        x, y = pivot * u[b], rest * u[b] - w[b]
        for i in range(B):
            inverse[b, i] -= x * u[i]
            reduction[b, i] += y * u[i] - u[b] * w[i]
    for matrix in (inverse, reduction):
        for b in range(B):
            matrix[r, b] = matrix[last, b]
        for b in range(B):
            matrix[b, r] = matrix[b, last]
        matrix[r, r] = matrix[last, last]
        for b in range(B):
            matrix[last, b] = matrix[b, last] = 0.0
    alpha[r] = alpha[last]
    alpha[last] = 0.0
    for j in range(points.shape[0]):
        points[j, r] = points[j, last]
