"""One event of the fast profile in two calls: one predicts, one learns.

Each array passed from Python costs some 40 ns, twice that in a named tuple, and an event takes 7
us in all. So related values share one array, with named indices, and arrays are passed one by one.
"""

import numpy as np

from iln_stream.compiled.activations import COS
from iln_stream.compiled.block_ridge import learn_blocks
from iln_stream.compiled.drift import join_drift
from iln_stream.compiled.hidden_units import features, gradient, preactivations
from iln_stream.compiled.jit import compiled
from iln_stream.compiled.mixed_intervals import learn_interval
from iln_stream.compiled.ml_poly import DISCOUNT, mixed, update_rule
from iln_stream.compiled.recursive_ridge import dot
from iln_stream.compiled.standardise import HIGH, LOW, join, standardise, standardise_again
from iln_stream.compiled.target import FENCE, center_and_unit, join_target, scaled

EVENTS, RULE, DRIFT, LAGS, HUBER_RECORD = 0, 0, 2, 5, 7
"""Indices into `record`, shape (9,), and offsets of its parts: the record of `update_rule`, whose
first entry is the number of events learned; that of `join_drift`; the last two targets; and that of
`learn_blocks`."""

N_LAGS, N_EXPERTS = 2, 5

ROW, INPUTS, FEATURES, PREDICTIONS, GAINS = range(5)
"""Rows of `look`, shape (5, D), which a prediction fills for learning: the raw row, v = [last
targets, deviations], phi, the experts' predictions; and scratch."""

SQUARED = False
STRETCHES = (2.0, 4.0)
AGOP_EVERY = 8
"""Gradients are computed at every such event."""

FORGETTING, RIDGE, HUBER = 0.999, 0.1, 2.0
"""Parameters of the ridge, as in `recursive_ridge.learn`."""


@compiled
def predict_event(x, stats, target, record, table, units, theta, look):  # type: ignore[no-untyped-def]
    """Return the prediction for x in the target's units.

    `units` (L + 1, R) holds omega and, below it, b; L counts the last targets and the inputs. The
    experts are the ridge, the mean, the last target, and the ridge stretched from the middle of the
    targets' range to its ends: the mean of two-valued targets lies between the two values, their
    median does not.
    """
    center, unit = center_and_unit(target)
    L, R = units.shape[0] - 1, units.shape[1]
    row, v, phi, p = look[ROW, : x.shape[0]], look[INPUTS, :L], look[FEATURES], look[PREDICTIONS]
    for i in range(N_LAGS):
        v[i] = 3.0 * scaled(record[LAGS + i], center, unit) if record[EVENTS] > i else 0.0
    standardise(x, stats, row, v[N_LAGS:])
    features(units[:L], units[L], COS, np.ones(L), v, np.empty(R, np.float32), phi)
    p[0] = min(max(dot(theta, phi), -FENCE), FENCE)
    p[1] = 0.0
    p[2] = v[0] / 3.0
    low, high = scaled(target[LOW, 0], center, unit), scaled(target[HIGH, 0], center, unit)
    low, high = min(low, high), max(low, high)  # before the first target low > high
    middle = (low + high) / 2.0
    for i in range(2):
        p[3 + i] = min(max(middle + STRETCHES[i] * (p[0] - middle), low), high)
    return center + unit * mixed(table, p[:N_EXPERTS])


@compiled
def learn_event(  # type: ignore[no-untyped-def]
    x, y, stats, target, record, table, units, theta, P, agop, memory, look,
    errors, rules, tallies, interval_record,
):  # fmt: skip
    """Train everything on y at the row last predicted, and store the event in the memory.

    Returns the number of events so far.
    """
    L = units.shape[0] - 1
    phi, p = look[FEATURES], look[PREDICTIONS, :N_EXPERTS]
    kept = memory[int(record[EVENTS]) % memory.shape[0]]
    for i in range(N_LAGS):
        kept[i] = record[LAGS + i]
    for j in range(L - N_LAGS):
        kept[N_LAGS + j] = look[ROW, j]
    kept[L] = y
    center, unit = center_and_unit(target)
    mixture = mixed(table, p)
    prediction = center + unit * mixture
    learn_interval(errors, rules, tallies, interval_record, prediction, y)
    join_drift(record[DRIFT:LAGS], abs(y - prediction) / unit)
    join(x, stats)
    join_target(y, target)
    center, unit = center_and_unit(target)
    t = scaled(y, center, unit)
    update_rule(table, record[RULE:DRIFT], p, mixture, t, SQUARED, DISCOUNT)
    n = record[EVENTS]
    if n % AGOP_EVERY == 0:
        rate = 1.0 / min(1.0 + n / (4.0 * AGOP_EVERY), 500.0 / AGOP_EVERY)
        update_agop(units, theta, look[INPUTS, :L], rate, agop)
    learn_blocks(
        P, theta, record[HUBER_RECORD:], phi, look[GAINS], t, p[0], FORGETTING, RIDGE, HUBER
    )
    record[LAGS + 1] = record[LAGS]
    record[LAGS] = y
    return int(n)


@compiled
def update_agop(units, theta, v, rate, agop):  # type: ignore[no-untyped-def]
    """Add the gradient at v to the average outer product of gradients, (L, L)."""
    L, R = units.shape[0] - 1, units.shape[1]
    u, a, g = np.empty(R, np.float32), np.empty(R, np.float32), np.empty(L)
    preactivations(units[:L], units[L], v, u)
    gradient(units[:L], COS, np.ones(L), theta, u, a, g)
    for j in range(L):
        for m in range(L):
            agop[j, m] += rate * (g[j] * g[m] - agop[j, m])


@compiled
def replay_blocks(memory, first, last, stats, scale, units, theta, P, record):  # type: ignore[no-untyped-def]
    """Train candidate blocks on events first..last - 1 of the memory, a ring buffer (N, L + 1).

    An event is stored as the two targets before it, its raw row, and its target.
    """
    L, R = units.shape[0] - 1, units.shape[1]
    center, unit = scale
    v, u, linear = np.empty(L), np.empty(R, np.float32), np.ones(L)
    phi, k = np.zeros(theta.shape[0]), np.empty(theta.shape[0])
    for i in range(first, last):
        event = memory[i % memory.shape[0]]
        for j in range(N_LAGS):
            v[j] = 3.0 * scaled(event[j], center, unit)
        standardise_again(event[N_LAGS:L], stats, v[N_LAGS:])
        features(units[:L], units[L], COS, linear, v, u, phi)
        t = scaled(event[L], center, unit)
        p = min(max(dot(theta, phi), -FENCE), FENCE)
        learn_blocks(P, theta, record, phi, k, t, p, FORGETTING, RIDGE, HUBER)
