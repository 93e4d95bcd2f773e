"""Forecasts from raw targets and inputs, without a clip, beside an engine's own prediction.

An engine's experts see inputs and targets within some standard deviations. These do not: the last
target; least squares on differences; least squares on inputs, and with an effect of each value of
inputs with few values; the last target plus the change one period ago; and a leader, which weighs
all by their errors.

All state is in one array: each array that is passed from Python costs time.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.columns import ABSENT, LARGEST_FLOAT, n_broken
from iln_stream.kernels.jit import borrowed, compiled
from iln_stream.kernels.mixing import DISCOUNT, GREATEST, WEIGHT, update_rule
from iln_stream.kernels.regression_event import FENCE
from iln_stream.kernels.ridges import dot
from iln_stream.kernels.vectors import shaped

OWN, LAST, DIFFERENCE, LINEAR, INDICATORS, SEASONAL, LEADER = range(7)
"""Indices of the forecasts; OWN is the engine's prediction."""

N_FORECASTS = 7

RING = 1024
"""Targets kept, each at i and i + RING and the newer one before, so that a window is contiguous."""

N_LAGS = 12
"""Differences of the last targets that DIFFERENCE sees."""

LONGEST = 512
"""The longest period."""

(
    COUNT, FIRST, LOW, HIGH, STEP, CHANGE, DIFFERENCE_ERROR, LINEAR_ERROR, DELAY, RAW, PAIR_LOW,
    PAIR_HIGH, RUN, PERIOD, INDICATORS_ERROR, COUNTS_FROM,
) = range(16)  # fmt: skip
"""Indices of the record: targets learned; the first, the smallest and the largest of them; the
largest difference among the first ten, or the first one, as the unit of lags; the mean |difference|
in units of the target's scale; the mean |error| of both least squares; how many labels came between
the last label's prediction and the label; the last target as it was; the range of what two targets
in a row have reached; the number of last targets beyond the fence, on one side; the period, or 0;
the mean |error| of INDICATORS; and the number of targets from which on the mixture counts."""

N_RECORD = 16

UNBOUNDED = 9.0
"""So many first targets count as they are: see `bounded_target`."""

GROWTH, MOST_RUN = 4.0, 250.0
"""Each further target of a run beyond the fence may reach so many times further from the center."""

OUTSIDE = 4.0
"""A target among the first ten so many units from the center, 12 robust sd, is an outlier."""

MOST_DELAY = RING - LONGEST - 2
"""If more labels come in between, there is no seasonal forecast."""

SEEN, CENTER, UNIT, SMALLEST, LARGEST, PRESENT, KNOWN = range(7)
"""Rows of the columns, (7, d): the number of values it had; the first; the first deviation from it;
the range; the last value, in units of that deviation; and how many different ones were met."""

FEW = 64
"""An input with more values than these has no effects of them."""

LEAST_RATE, EFFECT_PRIOR = 0.01, 2.0
"""An effect moves by the error times 2 / (n + 2) at its n-th event, and at least by a hundredth."""

MOST_COLUMNS = 48
"""With more inputs, least squares do without them."""

FIXED = 1 + N_LAGS + 2
"""Features of DIFFERENCE before those of columns: 1, lags, and two of the period."""

LANES = 4
"""Numbers of features are rounded up to a multiple of it: see `least_squares`."""

PENALTIES = (0.1, 0.001)
"""Of DIFFERENCE and LINEAR."""

HUBER, YOUNG, SPAN = 3.0, 10.0, 100.0
"""From the tenth event on, errors beyond three mean |errors| of the last 100 count linearly."""

REACH = 0.3
"""Forecasts may leave the range of the targets so far by this share of it, inputs by all of it; a
target may be further from the center by this share than the one before."""

EARLY_REACH = 100.0
"""The first ten values of an input may leave its range by so many ranges, as two values can lie
close together. Their events count the less: least squares are exact in spite of weights."""

FAR = 1.9
"""A last target so many units from the center is beyond what the engine itself can predict."""

EVIDENCE = 10.0
"""Events that the weights count for when the last target is far for the first time."""

LARGEST_Z, LARGEST_LAG = 1e9, 1e50

ROUNDING, MOST_UNITS = 1e-12, 1e5
"""A difference of that share of a value is none. Lags, and deviations, of so many units get
a larger one: least squares begin with a covariance of 1000, and would lose their precision."""

SEASON_SPAN, SEASON_LEAST, SEASON_SHARE, SEASON_BETTER, SEASON_CLIP = 1000.0, 12.0, 0.25, 0.9, 2.0
"""Differences one period apart are compared over about the last 1000 events, within two units. A
period needs 12 events and a quarter of itself beyond it, and 0.9 of the mean |difference|."""

SEASON_EARLY, SEASON_EVERY = 128, 8
"""After the first events the best period is looked for at every eighth only."""

LEADER_SPAN, LEADER_POWER, LEADER_CLIP = 500.0, 30.0, 10.0

LARGEST_ERROR = 1000.0
"""Errors are scored as at most so many units of the target's scale."""

MIXTURE, FINAL, CONTEXT, DELAYED, LATE, SCORED = range(N_FORECASTS, N_FORECASTS + 6)
"""Where `look` has, after the present forecasts: the rule's mixture, nan if it is broken; what
counts, the choice or OWN; 1 if the last target is far; how many labels came since the event's
prediction; and if LATE is 1, the forecasts that are scored in place of the present ones, and the
rule's mixture of them."""

N_LOOK = SCORED + N_FORECASTS + 1


class PlainState(NamedTuple):
    """Parts of one array, for d columns; D and E are the rounded numbers of features.

    Parameters
    ----------
    record
        (15,), see `COUNT`.
    seasons
        The mean |difference between differences| so many events apart, (513,).
    ring
        The last targets, (2048,).
    rules, n_scored
        The states of the rule while the last target is not far, and while it is, (2, 4, 7); and how
        many events each has scored (2,).
    ordinary
        The record of `update_rule`, (2,).
    leader, choice
        Events, the final mean |error|, weights and mean |errors|: of the six others, (14,); and of
        the leader and the rule's mixture (6,).
    columns
        (7, d), see `SEEN`.
    values, effects, times
        Of each column: the values met, their effects, and how often they came, (d, 64).
    theta, P, beta, Q
        Weights and covariances of DIFFERENCE and of LINEAR, (D,), (D, D), (E,), (E, E).
    look
        What the last prediction left for learning, see `MIXTURE`, (19,).
    phi, psi, places, gain
        The features (D,), (E,) of that prediction; the places (d,) of its values among those known,
        or -1; scratch (D,).

    """

    record: NDArray[np.float64]
    seasons: NDArray[np.float64]
    ring: NDArray[np.float64]
    rules: NDArray[np.float64]
    n_scored: NDArray[np.float64]
    ordinary: NDArray[np.float64]
    leader: NDArray[np.float64]
    choice: NDArray[np.float64]
    columns: NDArray[np.float64]
    values: NDArray[np.float64]
    effects: NDArray[np.float64]
    times: NDArray[np.float64]
    theta: NDArray[np.float64]
    P: NDArray[np.float64]
    beta: NDArray[np.float64]
    Q: NDArray[np.float64]
    look: NDArray[np.float64]
    phi: NDArray[np.float64]
    psi: NDArray[np.float64]
    places: NDArray[np.float64]
    gain: NDArray[np.float64]


@compiled
def state_of(a, n_columns):  # type: ignore[no-untyped-def]
    """The parts of an array, which lie one after the other."""
    d = n_columns if n_columns <= MOST_COLUMNS else 0
    D = (FIXED + d + LANES - 1) // LANES * LANES
    E = (1 + d + LANES - 1) // LANES * LANES
    seasons = N_RECORD
    ring = seasons + LONGEST + 1
    rules = ring + 2 * RING
    n_scored = rules + 8 * N_FORECASTS
    ordinary = n_scored + 2
    leader = ordinary + 2
    choice = leader + 2 + 2 * LEADER
    columns = choice + 6
    values = columns + 7 * d
    effects = values + FEW * d
    times = effects + FEW * d
    theta = times + FEW * d
    P = theta + D
    beta = P + D * D
    Q = beta + E
    look = Q + E * E
    phi = look + N_LOOK
    psi = phi + D
    places = psi + E
    gain = places + d
    return PlainState(
        a[:seasons],
        a[seasons:ring],
        a[ring:rules],
        shaped(a, rules, (2, 4, N_FORECASTS)),
        a[n_scored:ordinary],
        a[ordinary:leader],
        a[leader:choice],
        a[choice:columns],
        shaped(a, columns, (7, d)),
        shaped(a, values, (d, FEW)),
        shaped(a, effects, (d, FEW)),
        shaped(a, times, (d, FEW)),
        a[theta:P],
        shaped(a, P, (D, D)),
        a[beta:Q],
        shaped(a, Q, (E, E)),
        a[look:phi],
        a[phi:psi],
        a[psi:places],
        a[places:gain],
        a[gain : gain + D],
    )


@compiled
def value_at(ring, n, back):  # type: ignore[no-untyped-def]
    """The target `back` events ago, of n."""
    return ring[(back - n) % RING]


@compiled
def within(value, record):  # type: ignore[no-untyped-def]
    """A forecast, bounded by the targets' range and REACH of it."""
    if record[COUNT] < 2.0:
        return value
    reach = REACH * (record[HIGH] - record[LOW])
    return min(max(value, record[LOW] - reach), record[HIGH] + reach)


@compiled
def bounded(value, bound):  # type: ignore[no-untyped-def]
    """The value within +-bound."""
    return min(max(value, -bound), bound)


@compiled
def bounded_input(x, columns, j, share):  # type: ignore[no-untyped-def]
    """Column j's value; it may leave the range so far by a share of it."""
    low, high = columns[SMALLEST, j], columns[LARGEST, j]
    reach = share * (high - low)
    return min(max(x, low - reach), high + reach) if high > low else x


@compiled
def deviates(deviation, columns, j):  # type: ignore[no-untyped-def]
    """Whether a deviation from column j's first value is more than rounding."""
    return abs(deviation) > ROUNDING * abs(columns[CENTER, j])


@compiled
def position(x, columns, j):  # type: ignore[no-untyped-def]
    """Column j's value in units of its first deviation; as it was if absent."""
    if x >= ABSENT:
        return columns[PRESENT, j]
    if columns[SEEN, j] == 0.0:
        return 0.0
    share = 1.0 if columns[SEEN, j] >= YOUNG else EARLY_REACH
    deviation = bounded_input(x, columns, j, share) - columns[CENTER, j]
    unit = columns[UNIT, j]
    if unit == 0.0:
        return np.sign(deviation) if deviates(deviation, columns, j) else 0.0
    return bounded(deviation / unit, LARGEST_Z)


@compiled
def input_weight(row, columns):  # type: ignore[no-untyped-def]
    """The weight of a row by how many times its range so far the furthest input has left it."""
    furthest = 1.0
    for j in range(columns.shape[1]):
        size = columns[LARGEST, j] - columns[SMALLEST, j]
        if row[j] < ABSENT and 0.0 < columns[SEEN, j] < YOUNG and size > 0.0:
            beyond = max(row[j] - columns[LARGEST, j], columns[SMALLEST, j] - row[j]) / size
            furthest = max(furthest, min(beyond, EARLY_REACH))
    return 1.0 / (furthest * furthest)


@compiled
def describe(row, s, n):  # type: ignore[no-untyped-def]
    """Fill the features of DIFFERENCE, phi, and of LINEAR, psi."""
    phi, psi, ring, step = s.phi, s.psi, s.ring, s.record[STEP]
    period = int(s.record[PERIOD])
    phi[:FIXED] = 0.0
    phi[0] = psi[0] = 1.0
    if n >= YOUNG and step > 0.0:
        for k in range(min(N_LAGS, n - 1)):
            change = value_at(ring, n, 1 + k) - value_at(ring, n, 2 + k)
            phi[1 + k] = bounded(change / step, LARGEST_LAG)
        if period > 0:
            then = value_at(ring, n, period)
            change = then - value_at(ring, n, period + 1)
            phi[1 + N_LAGS] = bounded(change / step, LARGEST_LAG)
            phi[2 + N_LAGS] = bounded((then - value_at(ring, n, 1)) / step, LARGEST_LAG)
    for j in range(s.columns.shape[1]):
        z = position(row[j], s.columns, j)
        psi[1 + j] = z
        phi[FIXED + j] = z - s.columns[PRESENT, j]


@compiled
def n_led(leader):  # type: ignore[no-untyped-def]
    """The number of forecasts that a leader weighs."""
    return (leader.shape[0] - 2) // 2


@compiled
def effects_of(row, s):  # type: ignore[no-untyped-def]
    """The sum of the effects of the row's values; fill `places`.

    Two values are linear: effects begin with the third.
    """
    found = 0.0
    for j in range(s.columns.shape[1]):
        s.places[j] = -1.0
        if s.columns[KNOWN, j] <= FEW:
            for i in range(int(s.columns[KNOWN, j])):
                if s.values[j, i] == row[j]:
                    s.places[j] = i
                    found += s.effects[j, i]
                    break
    return found


@compiled
def learn_effects(row, s, e):  # type: ignore[no-untyped-def]
    """Let the effects of the row's values learn their error e; admit new values."""
    counted = 0.0
    for j in range(s.columns.shape[1]):
        if s.places[j] >= 0.0 and s.columns[KNOWN, j] > 2.0:
            counted += 1.0
    for j in range(s.columns.shape[1]):
        i, known = int(s.places[j]), int(s.columns[KNOWN, j])
        if i >= 0:
            s.times[j, i] += 1.0
            if known > 2:
                rate = max(EFFECT_PRIOR / (s.times[j, i] + EFFECT_PRIOR), LEAST_RATE)
                s.effects[j, i] += e / counted * rate
        elif row[j] < ABSENT and known <= FEW:
            s.columns[KNOWN, j] += 1.0
            if known < FEW:
                s.values[j, known] = row[j]


@compiled
def leader_of(p, leader, own):  # type: ignore[no-untyped-def]
    """The mean of forecasts p by the leader's weights, own if these are 0."""
    total = value = 0.0
    for k in range(n_led(leader)):
        total += leader[2 + k]
        value += leader[2 + k] * (p[k] - own)
    return own + value / total if total != 0.0 else own


@compiled
def mixture_of(p, s, context):  # type: ignore[no-untyped-def]
    """The mean of forecasts p (6,) by the weights of a context, or the other until it began."""
    rule = s.rules[context if s.n_scored[context] > 0.0 else 0]
    total = value = 0.0
    for k in range(N_FORECASTS):
        total += rule[WEIGHT, k]
        value += rule[WEIGHT, k] * (p[k] - p[OWN])
    return p[OWN] + value / total if total != 0.0 else p[OWN]


@compiled
def final_of(p, s, context):  # type: ignore[no-untyped-def]
    """The forecast that counts: the choice, or the rule's mixture where the last target is far.

    What the choice has learned of usual targets says nothing of a burst.
    """
    return p[MIXTURE] if context == 1 else leader_of(p[LEADER:], s.choice, p[LEADER])


@compiled
def mix(row, own, center, unit, s):  # type: ignore[no-untyped-def]
    """Fill `look`; return the choice, or `own` where it does not count or is broken."""
    record, ring, p = s.record, s.ring, s.look
    for k in range(N_FORECASTS):
        p[k] = own
    p[MIXTURE], p[FINAL], p[CONTEXT], p[DELAYED], p[LATE] = own, own, 0.0, 0.0, 0.0
    if record[COUNT] == 0.0:
        return own
    p[MIXTURE] = np.nan
    if n_broken(record) > 0:
        return own
    n = int(record[COUNT])
    describe(row, s, n)
    period, delay = int(record[PERIOD]), int(record[DELAY])
    last = value_at(ring, n, 1)
    change, level = dot(s.theta, s.phi), dot(s.beta, s.psi)
    p[LAST] = last
    p[DIFFERENCE] = within(last + change, record)
    p[LINEAR] = within(record[FIRST] + level, record)
    p[INDICATORS] = within(record[FIRST] + level + effects_of(row, s), record)
    p[SEASONAL] = last
    back = period * (1 + delay // period) if period > 0 else 0
    if period > 0 and delay <= MOST_DELAY and back < n:
        p[SEASONAL] += value_at(ring, n, back - delay) - value_at(ring, n, back + 1)
    p[LEADER] = leader_of(p, s.leader, own)
    far = 1 if abs(record[RAW] - center) >= FAR * unit else 0
    p[CONTEXT] = far
    mixture = mixture_of(p, s, far)
    if abs(mixture) + abs(change) + abs(level) <= LARGEST_FLOAT:
        p[MIXTURE] = mixture
        if record[COUNT] >= record[COUNTS_FROM]:
            p[FINAL] = final_of(p, s, far)
    return p[FINAL]


@compiled
def least_squares(theta, P, phi, e, w, gain):  # type: ignore[no-untyped-def]
    """Let theta learn the error e at phi, with weight w.

    Four columns at a time are in registers: rows are too short for loops that first test whether
    arrays overlap.
    """
    D = theta.shape[0]
    q = 0.0
    for j in range(0, D, LANES):
        g0 = g1 = g2 = g3 = 0.0
        for i in range(D):
            f = phi[i]
            g0 += P[i, j] * f
            g1 += P[i, j + 1] * f
            g2 += P[i, j + 2] * f
            g3 += P[i, j + 3] * f
        gain[j], gain[j + 1], gain[j + 2], gain[j + 3] = g0, g1, g2, g3
        q += (g0 * phi[j] + g1 * phi[j + 1]) + (g2 * phi[j + 2] + g3 * phi[j + 3])
    if q < 0.0:  # out of precision: what is known stays, with the confidence of the start
        for i in range(D):
            for j in range(D):
                P[i, j] = 1.0 if i == j else 0.0
        return
    share = 1.0 / (1.0 / w + q)
    for i in range(D):
        theta[i] += gain[i] * share * e
    for j in range(0, D, LANES):
        g0, g1 = share * gain[j], share * gain[j + 1]
        g2, g3 = share * gain[j + 2], share * gain[j + 3]
        for i in range(D):
            k = gain[i]
            P[i, j] -= k * g0
            P[i, j + 1] -= k * g1
            P[i, j + 2] -= k * g2
            P[i, j + 3] -= k * g3


@compiled
def huber_weight(e, record, k, n, unit):  # type: ignore[no-untyped-def]
    """The weight of an error, given the mean |error| in record[k], which it then joins."""
    size, mean = abs(e), record[k]
    weight = 1.0
    if n >= YOUNG and mean > ROUNDING * unit:
        if size > HUBER * mean:
            weight = HUBER * mean / size
        size = min(size, 10.0 * mean)
    record[k] += (size - mean) / min(n + 1.0, SPAN)
    return weight


@compiled
def learn_rules(s, p, mixture, w, squared):  # type: ignore[no-untyped-def]
    """Score the forecasts' errors p; the rule of a far last target begins with the other's."""
    context = int(s.look[CONTEXT])
    if context == 1 and s.n_scored[1] == 0.0 and s.n_scored[0] > 0.0:
        share = min(1.0, EVIDENCE / s.n_scored[0])
        for k in range(N_FORECASTS):
            for i in range(GREATEST + 1):
                s.rules[1, i, k] = share * s.rules[0, i, k]
            s.rules[1, WEIGHT, k] = s.rules[0, WEIGHT, k]
    s.n_scored[context] += 1.0
    update_rule(s.rules[context], s.ordinary, p, mixture, 0.0, w, squared, DISCOUNT)


@compiled
def power(x, n):  # type: ignore[no-untyped-def]
    """x to the power of an integer n >= 0, in a fifth of the time of **."""
    found = 1.0
    while n > 0:
        if n % 2 == 1:
            found *= x
        x *= x
        n //= 2
    return found


@compiled
def learn_leader(leader, p, final, squared):  # type: ignore[no-untyped-def]
    """Weigh the forecasts by their mean |errors| to the power -n, of n events so far, at most 30.

    The mean's weights increase with the square of the event's number: the first errors, when least
    squares knew nothing, soon count little. Errors beyond ten final mean |errors| count as these.
    """
    n, K = leader[0] + 1.0, n_led(leader)
    rate = 3.0 / (min(n, 3.0 * LEADER_SPAN) + 2.0)
    leader[0] = n
    leader[1] += (abs(final) - leader[1]) * rate
    best = np.inf
    for k in range(K):
        e = abs(p[k])
        if n > 5.0:
            e = min(e, LEADER_CLIP * leader[1])
        e = e * e if squared else e
        leader[2 + K + k] += (e - leader[2 + K + k]) * rate
        best = min(best, leader[2 + K + k])
    for k in range(K):
        mean = leader[2 + K + k]
        if best > 0.0:
            ratio = np.sqrt(best / mean) if squared else best / mean
            leader[2 + k] = power(ratio, int(min(n, LEADER_POWER)))
        else:
            leader[2 + k] = 1.0 if mean <= 0.0 else 0.0


@compiled
def bounded_target(y, center, unit, record):  # type: ignore[no-untyped-def]
    """The target as it counts here: within the fence, or what two in a row have reached.

    So an outlier stays out of the history, and a level counts from its second target on, by `REACH`
    further than the target before. Two in a row may be outliers, too: what they reach is at most
    `GROWTH` times the fence, three reach that many times further, and so on.
    """
    if record[COUNT] == 0.0:
        record[RAW] = record[PAIR_LOW] = record[PAIR_HIGH] = y
    last, fence = record[RAW], FENCE * unit
    record[RAW] = y
    if abs(y - center) <= fence:
        record[RUN] = 0.0
    else:
        same = (last - center) * (y - center) > 0.0
        record[RUN] = min(record[RUN], MOST_RUN) + 1.0 if same else 1.0
    furthest = fence * power(GROWTH, int(max(record[RUN] - 1.0, 0.0)))
    beyond = center + (1.0 + REACH) * (last - center)
    record[PAIR_LOW] = min(record[PAIR_LOW], max(y, beyond, center - furthest))
    record[PAIR_HIGH] = max(record[PAIR_HIGH], min(y, beyond, center + furthest))
    if record[COUNT] < UNBOUNDED:
        return y
    low, high = min(record[PAIR_LOW], center - fence), max(record[PAIR_HIGH], center + fence)
    return min(max(y, low), high)


@compiled
def learn_season(seasons, ring, record, n, unit):  # type: ignore[no-untyped-def]
    """Compare the last of n targets' differences with those before; set the period."""
    at = (1 - n) % RING
    last, scale = ring[at] - ring[at + 1], min(1.0 / unit, 1e300)
    change = min(abs(last) * scale, SEASON_CLIP)
    record[CHANGE] += (change - record[CHANGE]) / min(n - 1.0, SEASON_SPAN)
    newer, older = ring[at : at + LONGEST + 1], ring[at + 1 : at + LONGEST + 2]
    if n > LONGEST + SEASON_SPAN:
        rate = 1.0 / SEASON_SPAN
        for s in range(LONGEST + 1):  # the first two mean nothing
            e = min(abs(last - (newer[s] - older[s])) * scale, SEASON_CLIP)
            seasons[s] += (e - seasons[s]) * rate
    else:
        for s in range(2, min(LONGEST, n - 2) + 1):
            e = min(abs(last - (newer[s] - older[s])) * scale, SEASON_CLIP)
            seasons[s] += (e - seasons[s]) / min(n - 1.0 - s, SEASON_SPAN)
    if n > SEASON_EARLY and n % SEASON_EVERY != 0:
        return
    known = int(min(n - 1.0 - SEASON_LEAST, (n - 1.0) / (1.0 + SEASON_SHARE)))
    best, period = SEASON_BETTER * record[CHANGE], 0
    for s in range(2, min(known, LONGEST) + 1):
        if seasons[s] < best - 1e-9:  # multiples of a period are as good to within rounding
            best, period = seasons[s], s
    record[PERIOD] = period


@compiled
def join_column(x, columns, j):  # type: ignore[no-untyped-def]
    """Add a value to column j."""
    if x >= ABSENT:
        return
    if columns[SEEN, j] == 0.0:
        columns[SEEN, j] = 1.0
        columns[CENTER, j] = columns[SMALLEST, j] = columns[LARGEST, j] = x
        return
    x = bounded_input(x, columns, j, 1.0)
    columns[SEEN, j] += 1.0
    columns[SMALLEST, j] = min(columns[SMALLEST, j], x)
    columns[LARGEST, j] = max(columns[LARGEST, j], x)
    deviation = x - columns[CENTER, j]
    if columns[UNIT, j] == 0.0 and deviates(deviation, columns, j):
        columns[UNIT, j] = abs(deviation)
    if columns[UNIT, j] > 0.0:
        columns[PRESENT, j] = bounded(deviation / columns[UNIT, j], LARGEST_Z)


@compiled
def enlarge_units(s):  # type: ignore[no-untyped-def]
    """Measure lags and columns that are beyond `MOST_UNITS` in larger units.

    Their weights predict as before; what is known of them is forgotten.
    """
    units = 0.0
    for k in range(1, FIXED):
        units = max(units, abs(s.phi[k]))
    if units > MOST_UNITS:
        s.record[STEP] *= units
        for k in range(1, FIXED):
            s.phi[k] /= units
            enlarge_unit(s.theta, s.P, k, units, PENALTIES[0])
    for j in range(s.columns.shape[1]):
        units = abs(s.psi[1 + j])
        if units > MOST_UNITS:
            s.columns[UNIT, j] *= units
            s.columns[PRESENT, j] /= units
            s.psi[1 + j] /= units
            s.phi[FIXED + j] = s.psi[1 + j] - s.columns[PRESENT, j]
            enlarge_unit(s.theta, s.P, FIXED + j, units, PENALTIES[0])
            enlarge_unit(s.beta, s.Q, 1 + j, units, PENALTIES[1])


@compiled
def enlarge_unit(weights, covariance, j, units, penalty):  # type: ignore[no-untyped-def]
    """Let feature j be so many times smaller, and its weight as uncertain as at the start."""
    weights[j] *= units
    covariance[j], covariance[:, j] = 0.0, 0.0
    covariance[j, j] = 1.0 / penalty


@compiled
def begin(s, y):  # type: ignore[no-untyped-def]
    """Make the state that of a first target, y; before, only zeros and COUNTS_FROM are in it."""
    s.record[FIRST] = s.record[LOW] = s.record[HIGH] = y
    s.rules[:, WEIGHT] = 1.0 / N_FORECASTS
    s.leader[2 : 2 + LEADER] = s.choice[2:4] = 1.0
    for i in range(s.theta.shape[0]):
        s.P[i, i] = 1.0 / PENALTIES[0]
    for i in range(s.beta.shape[0]):
        s.Q[i, i] = 1.0 / PENALTIES[1]
    s.psi[:] = 0.0
    s.phi[:] = 0.0
    s.psi[0] = 1.0


@compiled
def learn(row, y, w, center, unit, s, squared):  # type: ignore[no-untyped-def]
    """Learn the target y of the row of the last `mix`, whose center and unit these are.

    Where the mixture was broken, nothing is learned, and COUNT becomes nan: a healer finds it.
    Returns whether it was sound.
    """
    record, ring = s.record, s.ring
    if not abs(s.look[MIXTURE]) <= LARGEST_FLOAT:
        record[COUNT] = np.nan
        return False
    n = int(record[COUNT])
    record[DELAY] = s.look[DELAYED]
    y = bounded_target(y, center, unit, record)
    change = 0.0
    if n == 0:
        begin(s, y)
    else:
        enlarge_units(s)
        last = value_at(ring, n, 1)
        change = y - last
        e = change - dot(s.theta, s.phi)
        weight = w * huber_weight(e, record, DIFFERENCE_ERROR, n, unit)
        if weight > 0.0:
            least_squares(s.theta, s.P, s.phi, e, weight, s.gain)
        p, context = s.look[: MIXTURE + 1], int(s.look[CONTEXT])
        if s.look[LATE] > 0.0:
            p = s.look[SCORED:]
            p[MIXTURE] = mixture_of(p, s, context)
        final = bounded((final_of(p, s, context) - y) / unit, LARGEST_ERROR)
        for k in range(MIXTURE + 1):
            p[k] = bounded((p[k] - y) / unit, LARGEST_ERROR)
        learn_rules(s, p[:N_FORECASTS], p[MIXTURE], w, squared)
        if w > 0.0:
            learn_leader(s.leader, p, final, squared)
            if context == 0:
                learn_leader(s.choice, p[LEADER:], final, squared)
    e = y - record[FIRST] - dot(s.beta, s.psi)
    weight = w * huber_weight(e, record, LINEAR_ERROR, n, unit) * input_weight(row, s.columns)
    if weight > 0.0:
        least_squares(s.beta, s.Q, s.psi, e, weight, s.gain)
    for j in range(s.columns.shape[1]):
        if s.places[j] >= 0.0:
            e -= s.effects[j, int(s.places[j])]
    if w > 0.0:
        learn_effects(row, s, e * huber_weight(e, record, INDICATORS_ERROR, n, unit) * min(w, 1.0))
    for j in range(s.columns.shape[1]):
        join_column(row[j], s.columns, j)
    if (n < YOUNG or record[STEP] == 0.0) and abs(change) > ROUNDING * abs(y):
        record[STEP] = max(record[STEP], abs(change))
    i = -n % RING
    ring[i] = ring[i + RING] = y
    record[COUNT] = n + 1.0
    record[LOW], record[HIGH] = min(record[LOW], y), max(record[HIGH], y)
    if n > 0:
        learn_season(s.seasons, ring, record, n + 1, unit)
    if n + 1 == YOUNG and max(record[HIGH] - center, center - record[LOW]) > OUTSIDE * unit:
        counts_from = record[COUNTS_FROM]
        forget(s)  # an outlier was among the first, which nothing bounds
        record[COUNTS_FROM] = counts_from
    return True


@compiled
def forget(s):  # type: ignore[no-untyped-def]
    """Make the state what it was before the first target."""
    s.record[:], s.seasons[:], s.ring[:], s.rules[:], s.n_scored[:] = 0.0, 0.0, 0.0, 0.0, 0.0
    s.ordinary[:], s.leader[:], s.choice[:], s.columns[:] = 0.0, 0.0, 0.0, 0.0
    s.values[:], s.effects[:], s.times[:] = 0.0, 0.0, 0.0
    s.theta[:], s.P[:], s.beta[:], s.Q[:] = 0.0, 0.0, 0.0, 0.0


@compiled
def mix_forecasts(row, own, center, unit, array, n_columns):  # type: ignore[no-untyped-def]
    """Do the work of `mix` on the state in one array."""
    return mix(row, own, center, unit, state_of(borrowed(array), n_columns))


@compiled
def learn_forecasts(row, y, w, center, unit, array, n_columns, squared):  # type: ignore[no-untyped-def]
    """Do the work of `learn` on the state in one array."""
    return learn(row, y, w, center, unit, state_of(borrowed(array), n_columns), squared)
