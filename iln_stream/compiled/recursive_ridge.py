"""Recursive least squares, exact, in double precision."""

from iln_stream.compiled.jit import compiled, plain
from iln_stream.compiled.wide import widest_vectors

BLOCK = 16
"""The number of weights is rounded up to a multiple of this; see `row_start`."""

WAITING = 8
"""Number of covariance updates that are applied at once."""

STEPS, MEAN_ERROR, SCALE, N_WAITING, FACTORS = range(5)
"""Indices into an expert's record, shape (4 + WAITING,): rows learned, its running mean absolute
error, and for the pending updates: their common scale, their number, and their factors."""


@compiled
def dot(a, b):  # type: ignore[no-untyped-def]
    """Scalar product."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@plain
def row_start(i):  # type: ignore[no-untyped-def]
    """Offset of row i in a covariance.

    A covariance is symmetric, (D, D) with D a multiple of 16, and stored row by row, each row up
    to the end of its diagonal block of 16: loops over rows then consist of whole vectors.
    """
    block = i // BLOCK
    return BLOCK * (block + 1) * (i - BLOCK * block // 2)


@compiled
def product(P, phi, k):  # type: ignore[no-untyped-def]
    """k = P phi, each entry of P read once, four rows at a time."""
    widest_vectors()
    D = phi.shape[0]
    for i in range(D):
        k[i] = 0.0
    for i in range(0, D, 4):
        n = i // BLOCK * BLOCK  # columns left of the diagonal block
        o0 = row_start(i)
        o1, o2, o3 = o0 + n + BLOCK, o0 + 2 * (n + BLOCK), o0 + 3 * (n + BLOCK)
        r0, r1, r2, r3 = P[o0 : o0 + n], P[o1 : o1 + n], P[o2 : o2 + n], P[o3 : o3 + n]
        f0, f1, f2, f3 = phi[i], phi[i + 1], phi[i + 2], phi[i + 3]
        t0 = t1 = t2 = t3 = 0.0
        for j in range(n):
            f = phi[j]
            t0 += r0[j] * f
            t1 += r1[j] * f
            t2 += r2[j] * f
            t3 += r3[j] * f
            k[j] += (r0[j] * f0 + r1[j] * f1) + (r2[j] * f2 + r3[j] * f3)
        for j in range(n, n + BLOCK):
            f = phi[j]
            t0 += P[o0 + j] * f
            t1 += P[o1 + j] * f
            t2 += P[o2 + j] * f
            t3 += P[o3 + j] * f
        k[i] += t0
        k[i + 1] += t1
        k[i + 2] += t2
        k[i + 3] += t3


@compiled
def gain(P, pending, record, phi, k):  # type: ignore[no-untyped-def]
    """k = C phi for the covariance C = s (P - sum_b c_b q_b q_b'), q_b the rows of `pending`.

    P fills the cache; this way it is read once per row and written once in `WAITING` rows. s and c
    are in the record.
    """
    product(P, phi, k)
    for b in range(int(record[N_WAITING])):
        q = pending[b]
        c = record[FACTORS + b] * dot(q, phi)
        for i in range(phi.shape[0]):
            k[i] -= c * q[i]
    for i in range(phi.shape[0]):
        k[i] *= record[SCALE]


@compiled
def column(P, pending, record, i, k):  # type: ignore[no-untyped-def]
    """k = column i of the covariance."""
    D = k.shape[0]
    end = (i // BLOCK + 1) * BLOCK
    for j in range(end):
        k[j] = P[row_start(i) + j]
    for j in range(end, D):
        k[j] = P[row_start(j) + i]
    for b in range(int(record[N_WAITING])):
        q = pending[b]
        c = record[FACTORS + b] * q[i]
        for j in range(D):
            k[j] -= c * q[j]
    for j in range(D):
        k[j] *= record[SCALE]


@compiled
def subtract(P, pending, record, k, denominator, forgetting):  # type: ignore[no-untyped-def]
    """Update the covariance to (C - k k' / denominator) / forgetting, now or a few rows later."""
    b = min(max(int(record[N_WAITING]), 0), WAITING - 1)  # within `pending` even if it is nan
    for j in range(k.shape[0]):
        pending[b, j] = k[j]
    record[FACTORS + b] = 1.0 / (record[SCALE] * denominator)
    record[SCALE] /= forgetting
    record[N_WAITING] = b + 1.0
    if b + 1 == WAITING:
        settle(P, pending, record)


@compiled
def settle(P, pending, record):  # type: ignore[no-untyped-def]
    """Apply the `WAITING` pending updates."""
    widest_vectors()
    s, c = record[SCALE], record[FACTORS:]
    q0, q1, q2, q3 = pending[0], pending[1], pending[2], pending[3]
    q4, q5, q6, q7 = pending[4], pending[5], pending[6], pending[7]
    for i in range(pending.shape[1]):
        start, n = row_start(i), (i // BLOCK + 1) * BLOCK
        row = P[start : start + n]
        c0, c1, c2, c3 = c[0] * q0[i], c[1] * q1[i], c[2] * q2[i], c[3] * q3[i]
        c4, c5, c6, c7 = c[4] * q4[i], c[5] * q5[i], c[6] * q6[i], c[7] * q7[i]
        for j in range(n):
            early = (c0 * q0[j] + c1 * q1[j]) + (c2 * q2[j] + c3 * q3[j])
            late = (c4 * q4[j] + c5 * q5[j]) + (c6 * q6[j] + c7 * q7[j])
            row[j] = s * (row[j] - (early + late))
        # Exactly symmetric: with forgetting, any asymmetry would grow without bound.
        for j in range(n - BLOCK, i):
            P[row_start(j) + i] = row[j]
    record[SCALE] = 1.0
    record[N_WAITING] = 0.0


@compiled
def renew_penalty(P, pending, theta, record, k, weight):  # type: ignore[no-untyped-def]
    """Learn an artificial row that sets one weight, the next in turn, to 0.

    This restores the forgotten part of the penalty, one coordinate per row. Without it the
    covariance would grow without bound in directions without input (windup).
    """
    D = k.shape[0]
    i = int(record[STEPS]) % D
    column(P, pending, record, i, k)
    denominator = 1.0 / weight + k[i]
    change = theta[i] / denominator
    for j in range(D):
        theta[j] -= change * k[j]
    subtract(P, pending, record, k, denominator, 1.0)


@compiled
def huber_weight(record, error, huber):  # type: ignore[no-untyped-def]
    """min(1, huber m / |e|), m the mean absolute error so far; then add the error to m."""
    error = abs(error)
    steps, mean = record[STEPS], record[MEAN_ERROR]
    weight = 1.0
    if steps >= 20.0 and error > huber * mean:
        weight = huber * mean / error
    # A single wild error enters the mean as at most three times the mean.
    bounded = error if steps < 5.0 else min(error, 3.0 * mean)
    record[STEPS] = steps + 1.0
    record[MEAN_ERROR] = mean + (bounded - mean) / (steps + 1.0)
    return max(weight, 1e-12)


@compiled
def learn(  # type: ignore[no-untyped-def]
    P, pending, theta, record, phi, k, t, p, w, forgetting, ridge, huber
):
    """One row of least squares: theta moves along C phi by the error; k (D,) is scratch.

    p is the prediction that sets the row's Huber weight; it may have been clipped. w is the row's
    own weight: without forgetting, 2 is the row twice, and 0 leaves theta and C as they are.
    """
    weight = w * huber_weight(record, t - p, huber)
    gain(P, pending, record, phi, k)
    denominator = forgetting / weight + dot(k, phi)
    step = (t - dot(theta, phi)) / denominator
    for i in range(phi.shape[0]):
        theta[i] += step * k[i]
    subtract(P, pending, record, k, denominator, forgetting)
    if forgetting < 1.0:
        lost = (1.0 - forgetting) * ridge * phi.shape[0]
        renew_penalty(P, pending, theta, record, k, lost)
