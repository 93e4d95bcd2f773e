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
from iln_stream.compiled.moving_units import AVERAGE, move_units
from iln_stream.compiled.recursive_ridge import dot
from iln_stream.compiled.standardise import HIGH, LOW, join, standardise
from iln_stream.compiled.target import FENCE, center_and_unit, join_target, scaled

EVENTS, RULE, DRIFT, LAGS, HUBER_RECORD, STEPS, KEPT = 0, 0, 2, 5, 7, 9, 10
"""Indices into `record`, shape (11,), and offsets of its parts: the record of `update_rule`, whose
first entry is the number of events learned; that of `join_drift`; the last two targets; that of
`learn_blocks`; the steps that the units took; and the number of events in the memory."""

N_LAGS, N_EXPERTS = 2, 5

ROW, INPUTS, FEATURES, PREDICTIONS, GAINS = range(5)
"""Rows of `look`, shape (5, D), which a prediction fills for learning: the raw row, v = [last
targets, deviations], phi, the experts' predictions and, after them, the ridge's output; scratch."""

SQUARED = False
STRETCHES = (2.0, 4.0)
RELEVANCE_EVERY = 8
"""Gradients by the inputs are computed at every such event."""

FIRST_STEP, EARLY_STEPS, STEP_EVERY = 32, 1024, 4
"""Units move from this event on: at each event until they have taken so many steps, and then at
every such event."""

FORGETTING, RIDGE, HUBER = 0.999, 0.1, 2.0
"""Parameters of the ridge, as in `recursive_ridge.learn`."""


@compiled
def predict_event(x, stats, target, record, table, units, theta, look):  # type: ignore[no-untyped-def]
    """Return the prediction for x in the target's units.

    `units` (4, L + 1, R) is that of `moving_units`; L counts the last targets and the inputs. The
    experts are the ridge, the mean, the last target, and the ridge stretched from the middle of the
    targets' range to its ends: the mean of two-valued targets lies between the two values, their
    median does not.
    """
    center, unit = center_and_unit(target)
    L, R = units.shape[1] - 1, units.shape[2]
    row, v, phi, p = look[ROW, : x.shape[0]], look[INPUTS, :L], look[FEATURES], look[PREDICTIONS]
    for i in range(N_LAGS):
        v[i] = 3.0 * scaled(record[LAGS + i], center, unit) if record[EVENTS] > i else 0.0
    standardise(x, stats, row, v[N_LAGS:])
    now = units[AVERAGE]
    features(now[:L], now[L], COS, np.ones(L), v, np.empty(R, np.float32), phi)
    output = dot(theta, phi)
    p[N_EXPERTS] = output
    p[0] = min(max(output, -FENCE), FENCE) if np.isfinite(output) else 0.0
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
    x, y, stats, target, record, table, units, theta, P, mean_squares, memory, look,
    errors, rules, tallies, interval_record, seed,
):  # fmt: skip
    """Train everything on y at the row last predicted, and store the event in the memory.

    Returns whether the ridge's output was finite; if not, the ridge did not learn.
    """
    L = units.shape[1] - 1
    phi, p = look[FEATURES], look[PREDICTIONS, :N_EXPERTS]
    kept = memory[int(record[EVENTS]) % memory.shape[0]]
    kept[:N_LAGS] = record[LAGS : LAGS + N_LAGS]
    kept[N_LAGS:L] = look[ROW, : L - N_LAGS]
    kept[L] = y
    record[KEPT] = min(record[KEPT] + 1.0, memory.shape[0])
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
    record[LAGS + 1] = record[LAGS]
    record[LAGS] = y
    if not np.isfinite(look[PREDICTIONS, N_EXPERTS]):
        return False
    n = record[EVENTS]
    if n % RELEVANCE_EVERY == 0:
        rate = 1.0 / min(1.0 + n / (4.0 * RELEVANCE_EVERY), 500.0 / RELEVANCE_EVERY)
        update_relevance(units[AVERAGE], theta, look[INPUTS, :L], rate, mean_squares)
    learn_blocks(
        P, theta, record[HUBER_RECORD:STEPS], phi, look[GAINS], t, p[0], FORGETTING, RIDGE, HUBER
    )
    if n >= FIRST_STEP and (record[STEPS] < EARLY_STEPS or n % STEP_EVERY == 0):
        record[STEPS] += 1.0
        move_units(
            units, theta, memory, N_LAGS, stats, target, int(n), record[KEPT], record[STEPS], seed
        )
    return True


@compiled
def update_relevance(units, theta, v, rate, mean_squares):  # type: ignore[no-untyped-def]
    """Add the squared gradient at v to the average of squared gradients, (L,)."""
    L, R = units.shape[0] - 1, units.shape[1]
    u, a, g = np.empty(R, np.float32), np.empty(R, np.float32), np.empty(L)
    preactivations(units[:L], units[L], v, u)
    gradient(units[:L], COS, np.ones(L), theta, u, a, g)
    for j in range(L):
        mean_squares[j] += rate * (g[j] * g[j] - mean_squares[j])
