"""Recursive least squares, exact, in double precision."""

import numpy as np

from iln_stream.kernels.compiled import compiled

STEPS, MEAN_ERROR = 0, 1
"""Places in an expert's record: rows learned, and its running mean absolute error."""


@compiled
def dot(a, b):  # type: ignore[no-untyped-def]
    """Scalar product."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@compiled
def gain(P, pending, phi, k):  # type: ignore[no-untyped-def]
    """K = P phi, and the update that the last row left pending is written on the way.

    P is symmetric; its lower triangle is kept, row after row, shape (D (D + 1) / 2,). The last
    row's update, P <- s (P - c q q'), waits as `pending` = [q, c, s], shape (D + 2,), so that P,
    which fills the cache, is read and written once a row; four rows of it are taken at a time.
    """
    D = phi.shape[0]
    s = pending[D + 1]
    c = s * pending[D]
    for i in range(D):
        k[i] = 0.0
    for i in range(0, D - 3, 4):
        o0 = i * (i + 1) // 2
        o1 = o0 + i + 1
        o2 = o1 + i + 2
        o3 = o2 + i + 3
        r0, r1 = P[o0 : o0 + i], P[o1 : o1 + i]
        r2, r3 = P[o2 : o2 + i], P[o3 : o3 + i]
        c0, c1 = c * pending[i], c * pending[i + 1]
        c2, c3 = c * pending[i + 2], c * pending[i + 3]
        f0, f1, f2, f3 = phi[i], phi[i + 1], phi[i + 2], phi[i + 3]
        t0 = t1 = t2 = t3 = 0.0
        for j in range(i):
            q, f = pending[j], phi[j]
            a0 = s * r0[j] - c0 * q
            a1 = s * r1[j] - c1 * q
            a2 = s * r2[j] - c2 * q
            a3 = s * r3[j] - c3 * q
            r0[j] = a0
            r1[j] = a1
            r2[j] = a2
            r3[j] = a3
            t0 += a0 * f
            t1 += a1 * f
            t2 += a2 * f
            t3 += a3 * f
            k[j] += (a0 * f0 + a1 * f1) + (a2 * f2 + a3 * f3)
        k[i] += t0
        k[i + 1] += t1
        k[i + 2] += t2
        k[i + 3] += t3
        _corner(P, pending, phi, k, i, i + 4, i)
    rest = D - D % 4
    _corner(P, pending, phi, k, rest, D, 0)


@compiled
def _corner(P, pending, phi, k, first, last, left):  # type: ignore[no-untyped-def]
    """Rows first..last - 1 of `gain`, from column `left` on."""
    D = phi.shape[0]
    s = pending[D + 1]
    c = s * pending[D]
    for i in range(first, last):
        o = i * (i + 1) // 2
        c_i = c * pending[i]
        for j in range(left, i):
            a = s * P[o + j] - c_i * pending[j]
            P[o + j] = a
            k[i] += a * phi[j]
            k[j] += a * phi[i]
        P[o + i] = s * P[o + i] - c_i * pending[i]
        k[i] += P[o + i] * phi[i]


@compiled
def leave_pending(pending, k, denominator, forgetting):  # type: ignore[no-untyped-def]
    """Leave P <- (P - k k' / denominator) / forgetting to the next row."""
    D = k.shape[0]
    for i in range(D):
        pending[i] = k[i]
    pending[D] = 1.0 / denominator
    pending[D + 1] = 1.0 / forgetting


@compiled
def renew_penalty(P, pending, theta, k, step, weight):  # type: ignore[no-untyped-def]
    """Learn a row that says that weight number `step`, counted round, is 0.

    What is forgotten of the penalty is put back so, one coordinate at each row. Without it the
    covariance would grow without bound where no input comes (windup).
    """
    D = k.shape[0]
    unit = np.zeros(D)
    i = int(step) % D
    unit[i] = 1.0
    gain(P, pending, unit, k)
    denominator = 1.0 / weight + k[i]
    change = theta[i] / denominator
    for j in range(D):
        theta[j] -= change * k[j]
    leave_pending(pending, k, denominator, 1.0)


@compiled
def huber_weight(record, error, huber):  # type: ignore[no-untyped-def]
    """min(1, huber m / |e|), m the mean absolute error so far; then let the error join m."""
    error = abs(error)
    steps, mean = record[STEPS], record[MEAN_ERROR]
    weight = 1.0
    if steps >= 20.0 and error > huber * mean:
        weight = huber * mean / error
    # A single wild error moves the mean by no more than three times itself.
    bounded = error if steps < 5.0 else min(error, 3.0 * mean)
    record[STEPS] = steps + 1.0
    record[MEAN_ERROR] = mean + (bounded - mean) / (steps + 1.0)
    return max(weight, 1e-12)


@compiled
def learn(  # type: ignore[no-untyped-def]
    P, pending, theta, record, phi, k, t, p, forgetting, ridge, huber
):
    """One row of least squares: theta moves along P phi by the error; k (D,) is scratch.

    p is the prediction by which the row's Huber weight is judged; it may have been clipped.
    """
    weight = huber_weight(record, t - p, huber)
    gain(P, pending, phi, k)
    denominator = forgetting / weight + dot(k, phi)
    step = (t - dot(theta, phi)) / denominator
    for i in range(phi.shape[0]):
        theta[i] += step * k[i]
    leave_pending(pending, k, denominator, forgetting)
    if forgetting < 1.0:
        lost = (1.0 - forgetting) * ridge * phi.shape[0]
        renew_penalty(P, pending, theta, k, record[STEPS], lost)
