"""Recursive least squares on hidden units."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.activations import COS, cos_turns
from iln_stream.kernels.columns import standardise_again
from iln_stream.kernels.jit import compiled, plain
from iln_stream.kernels.regression_event import FENCE, StoredEvents, fenced, scaled
from iln_stream.kernels.vectors import widest_vectors

LINEAR_SCALE = 0.3
"""Weight of the linear features beside the units, whose sum of squares is about 9."""


@compiled
def unit_scale(R):  # type: ignore[no-untyped-def]
    """The factor of each of R units."""
    return 3.0 * np.sqrt(2.0 / R)


@compiled
def preactivations(omega, b, v, u):  # type: ignore[no-untyped-def]
    """u_r = sum_j omega[j, r] v_j + b_r; omega (d, R), b (R,), v (d,)."""
    R = u.shape[0]
    for r in range(R):
        u[r] = b[r]
    for j in range(v.shape[0]):
        v_j = np.float32(v[j])
        if v_j != 0.0:
            row = omega[j]
            for r in range(R):
                u[r] += row[r] * v_j


@compiled
def features(omega, b, activation, linear, v, u, phi):  # type: ignore[no-untyped-def]
    """phi = [3 sqrt(2/R) sigma(u), 1, 0.3 v], shape (R + 1 + d,); v only where `linear` is 1."""
    R = u.shape[0]
    if R > 0:
        scale = unit_scale(R)
        preactivations(omega, b, v, u)
        if activation == COS:
            for r in range(R):
                phi[r] = scale * cos_turns(u[r])
        else:
            for r in range(R):
                phi[r] = scale * max(u[r], np.float32(0.0))
    phi[R] = 1.0
    for j in range(v.shape[0]):
        phi[R + 1 + j] = LINEAR_SCALE * v[j] * linear[j]


@compiled
def gradient(omega, activation, linear, theta, u, a, g):  # type: ignore[no-untyped-def]
    """g = gradient in v of theta.phi(v), shape (d,); u as left by `features`, a (R,) is scratch."""
    R = u.shape[0]
    if R > 0:
        scale = unit_scale(R)
        if activation == COS:
            turns = -2.0 * np.pi * scale
            for r in range(R):  # sin(2 pi u) = cos(2 pi (u - 1/4))
                a[r] = np.float32(turns * theta[r]) * cos_turns(u[r] - np.float32(0.25))
        else:
            for r in range(R):
                a[r] = np.float32(scale * theta[r]) if u[r] > 0.0 else np.float32(0.0)
    for j in range(g.shape[0]):
        total = np.float32(0.0)
        row = omega[j]
        for r in range(R):
            total += row[r] * a[r]
        g[j] = total + LINEAR_SCALE * linear[j] * theta[R + 1 + j]


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
            t0 += r0[j] * phi[j]
            t1 += r1[j] * phi[j]
            t2 += r2[j] * phi[j]
            t3 += r3[j] * phi[j]
            k[j] += (r0[j] * f0 + r1[j] * f1) + (r2[j] * f2 + r3[j] * f3)
        # Slices: loads at indices that may be negative, for all numba knows, would be gathers.
        r0, r1, r2, r3 = P[o0 + n : o1], P[o1 + n : o2], P[o2 + n : o3], P[o3 + n :]
        block = k[n : n + BLOCK]
        for j in range(block.shape[0]):
            block[j] += (r0[j] * f0 + r1[j] * f1) + (r2[j] * f2 + r3[j] * f3)
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
        for j in range(i % BLOCK):
            P[start + i - (i % BLOCK - j) * n] = row[n - BLOCK + j]
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


EXACT = 1e-9
"""Errors up to it are rounding."""


@compiled
def huber_weight(record, error, huber):  # type: ignore[no-untyped-def]
    """min(1, huber m / |e|), m the mean absolute error so far; then add the error to m.

    While targets are constant, m is 0: the first other one begins the mean anew.
    """
    error = abs(error)
    steps, mean = record[STEPS], record[MEAN_ERROR]
    weight = 1.0
    if steps >= 20.0 and mean <= EXACT < error:
        steps = 0.0
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


@compiled
def predict_all(omega, b, activation, linear, theta, v, u, phi, p):  # type: ignore[no-untyped-def]
    """p_k = theta_k.phi_k(v) within +-2, or nan; keeps phi (K, D) and u (K, R) for learning."""
    for k in range(p.shape[0]):
        features(omega[k], b[k], activation[k], linear[k], v, u[k], phi[k])
        p[k] = fenced(dot(theta[k], phi[k]))


@compiled
def learn_all(  # type: ignore[no-untyped-def]
    P, pending, theta, record, phi, p, t, w, forgetting, ridge, huber, scratch
):
    """Train every expert on t with weight w, where their predictions were p."""
    widest_vectors()
    for k in range(p.shape[0]):
        learn(
            P[k], pending[k], theta[k], record[k], phi[k], scratch, t, p[k], w,
            forgetting[k], ridge, huber,
        )  # fmt: skip


@compiled
def update_agop(omega, activation, linear, theta, u, rate, agop):  # type: ignore[no-untyped-def]
    """agop_k <- (1 - rate) agop_k + rate grad f_k grad f_k', at the last row predicted.

    A gradient that is not finite is left out.
    """
    d, R = omega.shape[1], omega.shape[2]
    g, a = np.empty(d), np.empty(R, np.float32)
    for k in range(agop.shape[0]):
        gradient(omega[k], activation[k], linear[k], theta[k], u[k], a, g)
        total = 0.0
        for j in range(d):  # numpy's sum would have each start load all of numba's, and scipy
            total += g[j]
        if not abs(total) < np.inf:  # isfinite subtracts, and reordered sums cancel
            continue
        for j in range(d):
            for m in range(d):
                agop[k, j, m] += rate * (g[j] * g[m] - agop[k, j, m])


@compiled
def learn_blocks(  # type: ignore[no-untyped-def]
    P, theta, record, phi, k, t, p, w, forgetting, ridge, huber
):
    """Learn one row as `learn` does; P (n, B, B), phi, theta and scratch k (n B,).

    theta moves along all blocks' gains at once; each block's covariance is updated as if it were
    alone. Zeros pad the last block of phi.
    """
    n, B = P.shape[0], P.shape[1]
    noise = forgetting / (w * huber_weight(record, t - p, huber))
    total = 0.0
    for u in range(n):
        block = P[u]
        f, g = phi[u * B : u * B + B], k[u * B : u * B + B]
        inside = 0.0
        for i in range(B):
            value = 0.0
            for j in range(B):
                value += block[i, j] * f[j]
            g[i] = value
            inside += value * f[i]
        total += inside
        _subtract(block, g, 1.0 / (noise + inside), 1.0 / forgetting)
    step = (t - dot(theta, phi)) / (noise + total)
    for i in range(phi.shape[0]):
        theta[i] += step * k[i]
    if forgetting < 1.0:
        # As in `renew_penalty`: one weight of one block per row.
        turn = int(record[STEPS])
        u, i = turn % n, (turn // n) % B
        first = u * B
        for j in range(B):
            k[first + j] = P[u, i, j]
        lost = (1.0 - forgetting) * ridge * n * B
        c = 1.0 / (1.0 / lost + P[u, i, i])
        change = c * theta[first + i]
        for j in range(B):
            theta[first + j] -= change * k[first + j]
        _subtract(P[u], k[first : first + B], c, 1.0)
        _mirror(P[u])


@compiled
def predict_blocks(theta, features, phi):  # type: ignore[no-untyped-def]
    """theta.phi within +-2, or nan, for `learn_blocks`; phi becomes the features, then zeros."""
    for i in range(features.shape[0]):
        phi[i] = features[i]
    return fenced(dot(theta, phi))


@compiled
def _subtract(block, g, c, s):  # type: ignore[no-untyped-def]
    """block <- s (block - c g g')."""
    B = g.shape[0]
    for i in range(B):
        c_i = c * g[i]
        for j in range(B):
            block[i, j] = s * (block[i, j] - c_i * g[j])


@compiled
def _mirror(block):  # type: ignore[no-untyped-def]
    """Make a block exactly symmetric.

    Rounding makes the two triangles differ slightly, and every row multiplies the difference by
    1 / forgetting: 0.999^-36,000 is 1 / eps. Mirroring once in n rows keeps it from growing.
    """
    for i in range(block.shape[0]):
        for j in range(i):
            block[j, i] = block[i, j]


@compiled
def predict_classes(omega, b, activation, linear, theta, v, u, phi, p):  # type: ignore[no-untyped-def]
    """p[k, c] = theta[k, c].phi_k(v); theta (K, C, D)."""
    for k in range(p.shape[0]):
        features(omega[k], b[k], activation[k], linear[k], v, u[k], phi[k])
        for c in range(p.shape[1]):
            p[k, c] = dot(theta[k, c], phi[k])


@compiled
def learn_class(P, pending, theta, record, phi, k, label, w):  # type: ignore[no-untyped-def]
    """One row of least squares, of weight w, for all classes; k (D,) is scratch.

    The classes share the covariance.
    """
    gain(P, pending, record, phi, k)
    denominator = 1.0 / w + dot(k, phi)
    for c in range(theta.shape[0]):
        t = 1.0 if c == label else 0.0
        step = (t - dot(theta[c], phi)) / denominator
        for i in range(phi.shape[0]):
            theta[c, i] += step * k[i]
    subtract(P, pending, record, k, denominator, 1.0)


@compiled
def learn_class_all(P, pending, theta, record, phi, label, w, scratch):  # type: ignore[no-untyped-def]
    """Train every expert on the label with weight w."""
    for k in range(theta.shape[0]):
        learn_class(P[k], pending[k], theta[k], record[k], phi[k], scratch, label, w)


MOST_CLASSES = 25
"""Of about so many classes, gradients are computed at each event."""


@compiled
def update_class_agop(omega, activation, linear, theta, u, rate, agop, n):  # type: ignore[no-untyped-def]
    """agop_k <- (1 - rate) agop_k + rate sum_c grad f_kc grad f_kc', at the last row.

    Of many classes, the n-th event takes every s-th, and counts it s times.
    """
    s = max(theta.shape[1] // MOST_CLASSES, 1)
    d, R = omega.shape[1], omega.shape[2]
    g, a = np.empty(d), np.empty(R, np.float32)
    for k in range(agop.shape[0]):
        for j in range(d):
            for m in range(d):
                agop[k, j, m] *= 1.0 - rate
        for c in range(n % s, theta.shape[1], s):
            gradient(omega[k], activation[k], linear[k], theta[k, c], u[k], a, g)
            for j in range(d):
                for m in range(d):
                    agop[k, j, m] += s * rate * g[j] * g[m]


@compiled
def replay_classes(memory, first, last, stats, new, activation, linear):  # type: ignore[no-untyped-def]
    """Train a candidate expert on events first..last - 1 of the memory, whose targets are classes.

    `memory` is a `StoredEvents`, `new` an `RLSState`, whose arrays change. A label that is not
    finite makes the weights so.
    """
    stored = StoredEvents(*memory)
    size = stored.y.shape[0]
    z, u = np.empty(new.omega.shape[0]), np.empty(new.b.shape[0], np.float32)
    phi, k = np.zeros(new.theta.shape[1]), np.empty(new.theta.shape[1])
    for i in range(first, last):
        standardise_again(stored.columns[:, i % size], stats, z)
        features(new.omega, new.b, activation, linear, z, u, phi)
        label, w = stored.y[i % size], stored.weights[i % size]
        learn_class(new.P, new.pending, new.theta, new.record, phi, k, label, w)
        if not np.isfinite(stored.y[i % size]):
            new.theta[:] = np.nan


class ReplayStatistics(NamedTuple):
    """The statistics by which stored events are standardised when they are replayed.

    Parameters
    ----------
    stats
        Of the inputs, (5, d).
    scale
        Center and unit of the target, (2,).

    """

    stats: NDArray[Any]
    scale: NDArray[Any]


@compiled
def describe_stored(stored, i, frame, v):  # type: ignore[no-untyped-def]
    """v = [lags, z]: the event in slot i and the targets before it, by the frame's statistics."""
    n_lags = stored.lags.shape[1]
    center, unit = frame.scale
    for j in range(n_lags):
        v[j] = 3.0 * scaled(stored.lags[i, j], center, unit)
    standardise_again(stored.columns[:, i], frame.stats, v[n_lags:])


@compiled
def replay(memory, first, last, scales, new, activation, linear, forgetting, ridge, huber):  # type: ignore[no-untyped-def]
    """Train a candidate expert on events first..last - 1; return its weighted sum of |errors|.

    `memory` is a `StoredEvents`, `scales` a `ReplayStatistics`, `new` an `RLSState`, whose arrays
    change.
    """
    stored, frame = StoredEvents(*memory), ReplayStatistics(*scales)
    widest_vectors()
    size, R = stored.y.shape[0], new.b.shape[0]
    center, unit = frame.scale
    v, u = np.empty(new.omega.shape[0]), np.empty(R, np.float32)
    phi, k = np.zeros(new.theta.shape[0]), np.empty(new.theta.shape[0])
    lost = 0.0
    for i in range(first, last):
        describe_stored(stored, i % size, frame, v)
        features(new.omega, new.b, activation, linear, v, u, phi)
        t = scaled(stored.y[i % size], center, unit)
        p = min(max(dot(new.theta, phi), -FENCE), FENCE)
        w = stored.weights[i % size]
        lost += w * abs(t - p)
        learn(new.P, new.pending, new.theta, new.record, phi, k, t, p, w, forgetting, ridge, huber)
    return lost
