"""An event of the fast profile in two calls: all that is predicted, and all that is learned."""

import numpy as np

from iln_stream.kernels.block_ridge import learn_blocks
from iln_stream.kernels.compiled import compiled
from iln_stream.kernels.expert_rule import judge, mixed
from iln_stream.kernels.hidden_units import COSINE, features, gradient
from iln_stream.kernels.mixed_intervals import learn_interval
from iln_stream.kernels.recursive_ridge import dot
from iln_stream.kernels.standardise import HIGH, LOW, join, standardise, standardise_again
from iln_stream.kernels.target import FENCE, center_and_unit, join_target, scaled

EVENTS, MIXTURE, UNIT_ERROR, FAST, SLOW, LAGS = 0, 1, 2, 3, 4, 5
"""Places in `record`, shape (7,): events learned, the last mixture, means of its |error| over about
the last 1000, 50 and 1000 events, and the last two targets."""

SQUARED, DISCOUNT = False, 0.999
STRETCHES = (2.0, 4.0)
SENSED = 8
"""Gradients are taken at each such event."""

FORGETTING, RIDGE, HUBER = 0.999, 0.1, 2.0
"""Of the ridge, as of `recursive_ridge.learn`."""


@compiled
def predict_event(  # type: ignore[no-untyped-def]
    x, stats, target, record, table, omega, b, linear, theta, row, v, u, phi, p
):
    """Return the prediction for x in the target's units; p (5,) are what the experts say.

    They are the ridge, the mean, the last target, and the ridge stretched from the middle of the
    targets' range to its ends: a mean of two-valued targets lies between them, their median does
    not.
    """
    center, unit = center_and_unit(target)
    for i in range(2):
        v[i] = 3.0 * scaled(record[LAGS + i], center, unit) if record[EVENTS] > i else 0.0
    standardise(x, stats, row, v[2:])
    D = u.shape[0] + 1 + v.shape[0]
    features(omega, b, COSINE, linear, v, u, phi[:D])
    p[0] = min(max(dot(theta, phi), -FENCE), FENCE)
    p[1] = 0.0
    p[2] = v[0] / 3.0
    low, high = scaled(target[LOW, 0], center, unit), scaled(target[HIGH, 0], center, unit)
    low, high = min(low, high), max(low, high)  # before the first target they are crossed
    middle = (low + high) / 2.0
    for i in range(2):
        p[3 + i] = min(max(middle + STRETCHES[i] * (p[0] - middle), low), high)
    record[MIXTURE] = mixed(table, p)
    return center + unit * record[MIXTURE]


@compiled
def learn_event(  # type: ignore[no-untyped-def]
    x, y, stats, target, record, table, omega, linear, theta, row, u, phi, p,
    P, errors, k, outer, columns, lags, targets, last_errors, rules, tallies, interval_record,
):  # fmt: skip
    """Let everything learn y at the row last predicted, and keep the event in the memory."""
    i = int(record[EVENTS]) % targets.shape[0]
    for j in range(row.shape[0]):
        columns[j, i] = row[j]
    lags[i, 0] = record[LAGS]
    lags[i, 1] = record[LAGS + 1]
    targets[i] = y
    center, unit = center_and_unit(target)
    prediction = center + unit * record[MIXTURE]
    learn_interval(last_errors, rules, tallies, interval_record, prediction, y)
    join(x, stats)
    join_target(y, target)
    center, unit = center_and_unit(target)
    t = scaled(y, center, unit)
    record[EVENTS] += 1.0
    n = record[EVENTS]
    error = abs(t - record[MIXTURE])
    record[UNIT_ERROR] += (error - record[UNIT_ERROR]) / min(n, 1000.0)
    record[FAST] += (error - record[FAST]) / min(n, 50.0)
    record[SLOW] += (error - record[SLOW]) / min(n, 1000.0)
    if record[UNIT_ERROR] > 0.0:
        judge(table, p, record[MIXTURE], t, max(record[UNIT_ERROR], 1e-12), SQUARED, DISCOUNT)
    if n % SENSED == 0:
        D, R = u.shape[0] + 1 + linear.shape[0], u.shape[0]
        g, a = np.empty(linear.shape[0]), np.empty(R, np.float32)
        gradient(omega, COSINE, linear, theta[:D], u, a, g)
        rate = 1.0 / min(1.0 + n / (4.0 * SENSED), 500.0 / SENSED)
        for j in range(g.shape[0]):
            for m in range(g.shape[0]):
                outer[j, m] += rate * (g[j] * g[m] - outer[j, m])
    learn_blocks(P, theta, errors, phi, k, t, p[0], FORGETTING, RIDGE, HUBER)
    record[LAGS + 1] = record[LAGS]
    record[LAGS] = y


@compiled
def replay_blocks(  # type: ignore[no-untyped-def]
    columns, lags, y, first, last, stats, scale, omega, b, linear,
    P, theta, errors,
):  # fmt: skip
    """Let newborn blocks learn events first..last - 1 of the memory, a ring."""
    size, R = y.shape[0], b.shape[0]
    center, unit = scale
    d = omega.shape[0]
    v, u = np.empty(d), np.empty(R, np.float32)
    phi, k = np.zeros(theta.shape[0]), np.empty(theta.shape[0])
    for i in range(first, last):
        for j in range(2):
            v[j] = 3.0 * scaled(lags[i % size, j], center, unit)
        standardise_again(columns[:, i % size], stats, v[2:])
        features(omega, b, COSINE, linear, v, u, phi[: R + 1 + d])
        t = scaled(y[i % size], center, unit)
        p = min(max(dot(theta, phi), -FENCE), FENCE)
        learn_blocks(P, theta, errors, phi, k, t, p, FORGETTING, RIDGE, HUBER)
