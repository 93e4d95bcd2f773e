"""The steps of one event in the accurate profile: describe, mix, judge."""

import numpy as np

from iln_stream.compiled.drift import join_drift
from iln_stream.compiled.jit import compiled
from iln_stream.compiled.mixed_intervals import learn_interval
from iln_stream.compiled.ml_poly import DISCOUNT, judge_next, mixed
from iln_stream.compiled.nearest import median, median_where, most_alike, nearest, put_in_order
from iln_stream.compiled.standardise import join, standardise
from iln_stream.compiled.target import center_and_unit, join_target, scaled
from iln_stream.compiled.wide import widest_vectors

N_SIMILAR = 31
"""Number of events with about the same predicted mean, whose median target is one expert."""

N_NEAR = 5
"""Number of nearest events in the relevant inputs, whose median target is one expert."""

MEAN, MEDIAN, NEIGHBOURS, STANDING = range(4)
"""The second rule's experts."""


@compiled
def describe(x, stats, target, lags, n, row, v):  # type: ignore[no-untyped-def]
    """v = [last targets, deviations] of the raw row x; also write its completed values to `row`.

    n is the number of events so far.
    """
    center, unit = center_and_unit(target)
    n_lags = lags.shape[0]
    for i in range(n_lags):
        v[i] = 3.0 * scaled(lags[i], center, unit) if n > i else 0.0
    standardise(x, stats, row, v[n_lags:])


@compiled
def mix(  # type: ignore[no-untyped-def]
    p, q, mean_table, final_table, target, n, y, columns, row, metric,
    means, carried, standing, standing_t, z,
):  # fmt: skip
    """Fill q (4,), the second rule's experts, from p, the first rule's; return the mixture.

    The memory holds the last N of n events: targets y (N,), raw rows, columns (d, N), and the
    predicted means in ascending order with the targets they carry. It also holds the deviations,
    standing (d, N), and the scaled targets, standing_t (N,), as of each event's arrival.
    """
    widest_vectors()
    center, unit = center_and_unit(target)
    filled = min(n, y.shape[0])
    q[:] = mixed(mean_table, p)
    if filled >= N_SIMILAR:
        distances, which = np.empty(N_NEAR), np.empty(N_NEAR, np.int64)
        similar, near = np.empty(N_SIMILAR), np.empty(N_NEAR)
        mean = center + unit * q[MEAN]
        q[MEDIAN] = scaled(median_where(means, carried, filled, mean, similar), center, unit)
        nearest(columns, filled, row, metric, distances, which)
        for i in range(N_NEAR):
            near[i] = y[which[i]]
        q[NEIGHBOURS] = scaled(median(near), center, unit)
    if filled > 0:
        q[STANDING] = standing_t[most_alike(standing, filled, z)]
    return mixed(final_table, q)


@compiled
def keep(  # type: ignore[no-untyped-def]
    i, filled, row, z, lags, y, mean, columns, kept_lags, targets, means, ordered, carried, standing
):
    """Store an event in slot i of the memory; `filled` slots were in use before."""
    put_in_order(ordered, carried, filled, mean, y, means[i], targets[i])
    means[i] = mean
    for j in range(row.shape[0]):
        columns[j, i] = row[j]
        standing[j, i] = z[j]
    for j in range(lags.shape[0]):
        kept_lags[i, j] = lags[j]
    targets[i] = y


@compiled
def judge(  # type: ignore[no-untyped-def]
    x, y, row, z, p, q, mixture, stats, target, lags, n, drift,
    mean_table, mean_record, final_table, final_record,
    columns, kept_lags, targets, predictions, means, ordered, carried, standing, standing_t,
    errors, interval_rules, tallies, interval_record,
):  # fmt: skip
    """Score all predictions by y, and store the event in the memory.

    Returns the scaled target, by the statistics that include y.
    """
    center, unit = center_and_unit(target)
    prediction = center + unit * mixture
    if n == 0:
        lags[:] = y
    learn_interval(errors, interval_rules, tallies, interval_record, prediction, y)
    join_drift(drift, abs(y - prediction) / unit)
    i = n % targets.shape[0]
    keep(
        i, min(n, targets.shape[0]), row, z, lags, y, center + unit * q[MEAN],
        columns, kept_lags, targets, means, ordered, carried, standing,
    )  # fmt: skip
    for k in range(predictions.shape[1]):
        predictions[i, k] = center + unit * p[k]
    join(x, stats)
    join_target(y, target)
    center, unit = center_and_unit(target)
    t = scaled(y, center, unit)
    standing_t[i] = t
    judge_next(mean_table, mean_record, p, q[MEAN], t, True, DISCOUNT)
    judge_next(final_table, final_record, q, mixture, t, False, DISCOUNT)
    for j in range(lags.shape[0] - 1, 0, -1):
        lags[j] = lags[j - 1]
    lags[0] = y
    return t
