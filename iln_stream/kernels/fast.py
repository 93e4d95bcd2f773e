"""The events of profile fast: one event in two calls, and many rows in one.

Each array passed from Python costs some 50 ns, twice that in a named tuple, and an event takes 5
us in all. So most arrays are parts of one.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.activations import COS
from iln_stream.kernels.columns import (
    CHANGED_AT,
    HIGH,
    LARGEST_FLOAT,
    LOW,
    N_ROWS,
    join,
    n_broken,
    standardise,
)
from iln_stream.kernels.intervals import LEVELS, N_ROLLING, WINDOWS, learn_interval
from iln_stream.kernels.jit import address_of, borrowed, call_float, call_int, compiled
from iln_stream.kernels.mixing import DISCOUNT, mixed, update_rule
from iln_stream.kernels.moving_units import AVERAGE, move_units
from iln_stream.kernels.plain_forecasts import FINAL, learn, mix, state_of
from iln_stream.kernels.regression_event import (
    FENCE,
    LARGEST,
    center_and_unit,
    join_drift,
    join_target,
    scaled,
)
from iln_stream.kernels.ridges import dot, features, gradient, learn_blocks, preactivations
from iln_stream.kernels.vectors import shaped

EVENTS, RULE, DRIFT, LAGS, HUBER_RECORD, STEPS, KEPT, LENGTH = 0, 0, 2, 5, 7, 9, 10, 11
"""Indices into `record`, shape (11,), and offsets of its parts: the record of `update_rule`, whose
first entry is the number of events learned; that of `join_drift`; the last two targets; that of
`learn_blocks`; the steps that the units took; and the number of events in the memory."""

N_FAST_LAGS, N_EXPERTS = 2, 5
N_LEVELS, LONGEST = len(LEVELS), max(WINDOWS)
N_RULES = N_LEVELS * N_ROLLING
ERRORS = (1 + 2 * len(WINDOWS)) * LONGEST

ROW, INPUTS, FEATURES, PREDICTIONS, GAINS = range(5)
"""Rows of `look`, shape (5, D), which a prediction fills for learning: the raw row, v = [last
targets, deviations], phi, the experts' predictions and, after them, what follows; scratch."""

OUTPUT, SCORED, PUBLISHED = N_EXPERTS, N_EXPERTS + 1, 2 * N_EXPERTS + 2
LATE, EVENT_WEIGHT, ENDS = PUBLISHED + 1, PUBLISHED + 2, PUBLISHED + 3
"""Where the ridge's output is, after the experts' predictions; and the event's weight, which is 1
after a prediction, and may be set before learning. If the label is late, LATE has 1,
and the others what learning scores in place of the last prediction: experts' predictions and their
mixture, the prediction in the target's units, and the intervals that `learn_interval` scores."""

STRETCHES = (2.0, 4.0)
RELEVANCE_EVERY = 8
"""Gradients by the inputs are computed at every such event."""

FIRST_STEP, EARLY_STEPS, STEP_EVERY = 32, 1024, 8
"""Units move from this event on, or after so many events since a change of the target: at each
event until they have taken so many steps, and then at every such event."""

FORGETTING, RIDGE, HUBER = 0.999, 0.1, 2.0
"""Parameters of the ridge, as in `ridges.learn`."""


BLOCK = 16
"""Size of the ridge's blocks."""

LEARNED, LEARNED_FAULTY, UNSOUND = range(3)
"""Results of `learn_event`: the event was learned; it was, and something else is not finite;
nothing was learned, as the prediction or a count is not finite, or out of all bounds."""

INSPECT_EVERY, INSPECTED = 128, 4096
"""Some faults show in no prediction. So at every such event so many numbers of each array, the
next ones each time, are inspected."""


class Parts(NamedTuple):
    """Parts of one array, for L lags and inputs, R units, and D features in n blocks.

    Parameters
    ----------
    target
        Statistics of the target, (47, 1).
    record
        (11,), see `EVENTS`.
    table
        State of the rule, (4, 5).
    errors, rules, tallies, interval_record
        Those of the intervals: see `kernels/intervals.py`.
    theta, P
        The ridge's weights (D,) and covariance (n, 16, 16).
    mean_squares
        Mean squares of the gradient along each lag and input, (L,).
    look
        (5, D), see `ROW`.

    """

    target: NDArray[np.float64]
    record: NDArray[np.float64]
    table: NDArray[np.float64]
    errors: NDArray[np.float64]
    rules: NDArray[np.float64]
    tallies: NDArray[np.float64]
    interval_record: NDArray[np.float64]
    theta: NDArray[np.float64]
    P: NDArray[np.float64]
    mean_squares: NDArray[np.float64]
    look: NDArray[np.float64]


@compiled
def parts_of(a, L, R):  # type: ignore[no-untyped-def]
    """The parts of an array, which lie one after the other."""
    n = (R + 1 + L + BLOCK - 1) // BLOCK  # for the units, 1, and lags and inputs
    D = n * BLOCK
    table = N_ROWS + LENGTH
    errors = table + 4 * N_EXPERTS
    rules = errors + ERRORS
    tallies = rules + 4 * N_RULES
    intervals = tallies + 4 * N_LEVELS
    theta = intervals + 3
    P = theta + D
    mean_squares = P + D * BLOCK
    look = mean_squares + L
    return Parts(
        shaped(a, 0, (N_ROWS, 1)),
        a[N_ROWS:table],
        shaped(a, table, (4, N_EXPERTS)),
        shaped(a, errors, (1 + 2 * len(WINDOWS), LONGEST)),
        shaped(a, rules, (4, N_RULES)),
        shaped(a, tallies, (N_LEVELS, 4)),
        a[intervals:theta],
        a[theta:P],
        shaped(a, P, (n, BLOCK, BLOCK)),
        a[mean_squares:look],
        shaped(a, look, (5, D)),
    )


@compiled
def predict_event(x, stats, array, units, plain):  # type: ignore[no-untyped-def]
    """Return the prediction for x in the target's units: the experts', mixed with plain forecasts.

    `plain` holds a `PlainState`.
    """
    own = predict_own(x, stats, array, units)
    L, R, d = units.shape[1] - 1, units.shape[2], units.shape[1] - 1 - N_FAST_LAGS
    parts = parts_of(borrowed(array), L, R)
    center, unit = center_and_unit(parts.target)
    return mix(parts.look[ROW, :d], own, center, unit, state_of(borrowed(plain), d))


@compiled
def predict_own(x, stats, array, units):  # type: ignore[no-untyped-def]
    """Return the experts' prediction for x.

    `array` holds `Parts`; `units` (4, L + 1, R) is that of `moving_units`; L counts the last
    targets and the inputs. The experts are the ridge, the mean, the last target, and the ridge
    stretched from the middle of the targets' range to its ends: the mean of two-valued targets lies
    between the two values, their median does not. Where the state is broken, the prediction is the
    last target, or the mean.
    """
    units = borrowed(units)
    L, R = units.shape[1] - 1, units.shape[2]
    parts = parts_of(borrowed(array), L, R)
    target, record, look = parts.target, parts.record, parts.look
    center, unit = center_and_unit(target)
    row, v, phi, p = look[ROW, : x.shape[0]], look[INPUTS, :L], look[FEATURES], look[PREDICTIONS]
    for i in range(N_FAST_LAGS):
        v[i] = 3.0 * scaled(record[LAGS + i], center, unit) if record[EVENTS] > i else 0.0
    standardise(x, stats, row, v[N_FAST_LAGS:])
    now, linear = units[AVERAGE], look[GAINS, :L]
    linear[:] = 1.0
    features(now[:L], now[L], COS, linear, v, np.empty(R, np.float32), phi)
    output = dot(parts.theta, phi)
    p[OUTPUT] = output
    p[0] = min(max(output, -FENCE), FENCE) if abs(output) <= LARGEST else 0.0
    p[1] = 0.0
    p[2] = v[0] / 3.0
    low, high = scaled(target[LOW, 0], center, unit), scaled(target[HIGH, 0], center, unit)
    low, high = min(low, high), max(low, high)  # before the first target low > high
    middle = (low + high) / 2.0
    for i in range(2):
        p[3 + i] = min(max(middle + STRETCHES[i] * (p[0] - middle), low), high)
    p[LATE], p[EVENT_WEIGHT] = 0.0, 1.0
    prediction = center + unit * mixed(parts.table, p[:N_EXPERTS])
    if abs(prediction) <= LARGEST_FLOAT:
        return prediction
    if abs(record[LAGS]) <= LARGEST_FLOAT:
        return record[LAGS]
    return center if abs(center) <= LARGEST_FLOAT else 0.0


@compiled
def learn_forecasts(row, y, w, center, unit, plain, squared):  # type: ignore[no-untyped-def]
    """Let plain forecasts learn. `learn_event` calls the address: another process compiles this."""
    state = state_of(borrowed(plain), row.shape[0])
    return LEARNED if learn(row, y, w, center, unit, state, squared) else LEARNED_FAULTY


@cache
def forecasts_address() -> int:
    """Return the address of `learn_forecasts`."""
    return address_of(learn_forecasts, np.zeros(1), 0.0, 1.0, 0.0, 1.0, np.zeros(1), False)


@compiled
def learn_event(  # type: ignore[no-untyped-def]
    x, y, stats, array, units, plain, memory, seed, squared, forecasts
):
    """Train everything on y at the row last predicted, and store the event in the memory.

    `memory` (N, L + 1) is a ring of events: the targets before each, its raw row, its target; and
    its weight, (N, L + 2), once one is not 1. Scales, intervals and drift are of all events alike.
    `plain` holds a `PlainState`, which learns, too. `squared` says whether rules minimise squared
    errors; otherwise absolute ones. `forecasts` is `forecasts_address`. Returns `LEARNED`, or what
    was wrong: see `LEARNED`.
    """
    units, memory = borrowed(units), borrowed(memory)
    L, R = units.shape[1] - 1, units.shape[2]
    parts = parts_of(borrowed(array), L, R)
    target, record, table, look = parts.target, parts.record, parts.table, parts.look
    phi, p = look[FEATURES], look[PREDICTIONS, :N_EXPERTS]
    center, unit = center_and_unit(target)
    mixture = mixed(table, p)
    prediction = center + unit * mixture
    broken = n_broken(record) + n_broken(parts.interval_record) + n_broken(p)
    output = look[PREDICTIONS, OUTPUT]
    if broken > 0 or not (abs(output) <= LARGEST and abs(prediction) <= LARGEST_FLOAT):
        return UNSOUND
    row = look[ROW, : L - N_FAST_LAGS]
    prediction = state_of(borrowed(plain), L - N_FAST_LAGS).look[FINAL]
    event = memory[int(record[EVENTS]) % memory.shape[0]]
    for i in range(N_FAST_LAGS):
        event[i] = record[LAGS + i]
    for j in range(L - N_FAST_LAGS):
        event[N_FAST_LAGS + j] = row[j]
    event[L], weight = y, look[PREDICTIONS, EVENT_WEIGHT]
    if memory.shape[1] > L + 1:
        event[L + 1] = weight
    record[KEPT] = min(record[KEPT] + 1.0, memory.shape[0])
    unscaled = np.empty((0, 0))
    interval_state = parts.errors, unscaled, parts.rules, parts.tallies, parts.interval_record
    scored, seen, n_ends = p, look[PREDICTIONS], 0
    if seen[LATE] > 0.0:
        scored, n_ends = seen[SCORED : SCORED + N_EXPERTS], N_LEVELS
        mixture, prediction = seen[SCORED + N_EXPERTS], seen[PUBLISHED]
    ends = shaped(seen, ENDS, (n_ends, 3))
    learn_interval(interval_state, prediction, unscaled[0:0, 0], y, ends)
    join_drift(record[DRIFT:LAGS], abs(y - prediction) / unit)
    result = call_int(forecasts, (row, y, weight, center, unit, plain, squared))
    join(x, stats, int(record[EVENTS]))  # compiled for integers already
    join_target(y, target, record[EVENTS])
    if target[CHANGED_AT, 0] == record[EVENTS] > 0.0:
        record[KEPT] = 1.0  # earlier events would teach the units the wrong level
    center, unit = center_and_unit(target)
    t = scaled(y, center, unit)
    update_rule(table, record[RULE:DRIFT], scored, mixture, t, weight, squared, DISCOUNT)
    record[LAGS + 1] = record[LAGS]
    record[LAGS] = y
    n = record[EVENTS]
    if n % RELEVANCE_EVERY == 0:
        rate = 1.0 / min(1.0 + n / (4.0 * RELEVANCE_EVERY), 500.0 / RELEVANCE_EVERY)
        update_relevance(units[AVERAGE], parts.theta, look[INPUTS, :L], rate, parts.mean_squares)
    theta, errors, gains = parts.theta, record[HUBER_RECORD:STEPS], look[GAINS]
    learn_blocks(parts.P, theta, errors, phi, gains, t, p[0], weight, FORGETTING, RIDGE, HUBER)
    due = record[KEPT] >= FIRST_STEP and (record[STEPS] < EARLY_STEPS or n % STEP_EVERY == 0)
    if due and n_broken(theta) == 0:  # units that moved by nan would be lost
        step, kept = record[STEPS] + 1.0, record[KEPT]
        if not move_units(
            units, theta, memory, N_FAST_LAGS, stats, target, int(n), kept, step, seed
        ):
            return LEARNED_FAULTY
        record[STEPS] = step
    if n % INSPECT_EVERY != 0:
        return result
    turn, state = int(n) // INSPECT_EVERY, array[: array.shape[0] - look.size]
    broken = n_broken(share(state, turn))
    broken += n_broken(share(shaped(units, 0, (units.size,)), turn))
    broken += n_broken(share(shaped(memory, 0, (memory.size,)), turn))
    broken += n_broken(share(shaped(stats, 0, (stats.size,)), turn))
    broken += n_broken(share(plain, turn))
    return result if broken == 0 else LEARNED_FAULTY


@compiled
def share(numbers, turn):  # type: ignore[no-untyped-def]
    """The numbers, of a flat array, that are inspected in this turn."""
    size = numbers.shape[0]
    first = turn % max((size + INSPECTED - 1) // INSPECTED, 1) * INSPECTED
    return numbers[first : min(first + INSPECTED, size)]


@compiled
def update_relevance(units, theta, v, rate, mean_squares):  # type: ignore[no-untyped-def]
    """Add the squared gradient at v to the average of squared gradients, (L,)."""
    L, R = units.shape[0] - 1, units.shape[1]
    u, a, g = np.empty(R, np.float32), np.empty(R, np.float32), np.empty(L)
    preactivations(units[:L], units[L], v, u)
    gradient(units[:L], COS, np.ones(L), theta, u, a, g)
    for j in range(L):
        mean_squares[j] += rate * (g[j] * g[j] - mean_squares[j])


@compiled
def _predict_rows(X, stats, array, units, plain, predict, y_pred):  # type: ignore[no-untyped-def]
    X, stats, array, units = borrowed(X), borrowed(stats), borrowed(array), borrowed(units)
    plain = borrowed(plain)
    for i in range(X.shape[0]):
        y_pred[i] = call_float(predict, (X[i], stats, array, units, plain))


@compiled
def _learn_rows(  # type: ignore[no-untyped-def]
    X,
    y,
    w,
    y_pred,
    unit,
    stats,
    array,
    units,
    plain,
    memory,
    seed,
    squared,
    forecasts,
    predict,
    learn,
):
    X, stats, array = borrowed(X), borrowed(stats), borrowed(array)
    units, plain, memory = borrowed(units), borrowed(plain), borrowed(memory)
    parts = parts_of(array, units.shape[1] - 1, units.shape[2])
    for i in range(X.shape[0]):
        y_pred[i] = call_float(predict, (X[i], stats, array, units, plain))
        parts.look[PREDICTIONS, EVENT_WEIGHT] = w[i]
        state = stats, array, units, plain, memory, seed, squared, forecasts
        fault = call_int(learn, (X[i], y[i], *state))
        unit[i] = center_and_unit(parts.target)[1]
        if fault != LEARNED:
            return i, fault
    return X.shape[0], LEARNED


def predict_rows(X: NDArray[np.float64], *state: Any) -> NDArray[np.float64]:
    """Return the predictions (m,) of `predict_event` for raw rows X (m, d), read-only."""
    y_pred = np.empty(len(X))
    if len(X):
        _predict_rows(X, *state, address_of(predict_event, X[0], *state), y_pred)
    return y_pred


def learn_rows(
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    w: NDArray[np.float64],
    y_pred: NDArray[np.float64],
    unit: NDArray[np.float64],
    *state: Any,
) -> tuple[int, int]:
    """Let `learn_event` learn raw rows X (m, d), read-only, with targets y (m,), until a fault.

    The rows' weights are w (m,); if one is not 1, the memory has room for weights. Each row's
    prediction is written into `y_pred` (m,), and the target's unit after it into `unit` (m,).
    Returns how many rows were passed before the one with the fault, and the result of that.
    """
    if not len(X):
        return 0, LEARNED
    predict, forecasts = address_of(predict_event, X[0], *state[:4]), forecasts_address()
    learn = address_of(learn_event, X[0], float(y[0]), *state, forecasts)
    n, fault = _learn_rows(X, y, w, y_pred, unit, *state, forecasts, predict, learn)
    return int(n), int(fault)
