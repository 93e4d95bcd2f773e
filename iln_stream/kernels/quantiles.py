"""Quantiles of a target around its prediction: linear in the inputs, by steps on the pinball loss.

An expert's quantile is the prediction plus unit (theta . phi). Each level has `RATES` such experts,
and one that is given; ML-Poly mixes them.
"""

import numpy as np

from iln_stream.kernels.columns import LARGEST_FLOAT
from iln_stream.kernels.intervals import bounded
from iln_stream.kernels.jit import compiled
from iln_stream.kernels.mixing import DISCOUNT, WEIGHT, regret
from iln_stream.kernels.ridges import dot

RATES = np.array([0.05, 0.15, 0.5])
"""First steps of the experts, in units; AdaGrad shortens them by input."""

N_EXPERTS = 4
"""Those, and an end of the regressor's interval."""

CENTER, UNIT, RECENT = 0, 1, 2
"""Of what was predicted, shape (6 + K,): the prediction, the unit (the mean |error| of about the
last 1,000 events, 0 at first), two recent means of the error and two of its size, and the offsets
of the interval's ends, nan for none."""

N_SEEN = RECENT + 4

PACES = (0.3, 0.03, 0.3, 0.05)
"""How fast the recent means follow."""

EVENTS, LOWEST, HIGHEST = N_SEEN, N_SEEN + 1, N_SEEN + 2
"""Of the record, (9,), which begins as what was predicted: events, and the range of the targets."""

N_GIVEN = 5
"""Entries of phi that are not of a column: 1 and the recent errors."""

LARGEST_REGRET = 3.0


@compiled
def describe_quantiles(seen, z, phi):  # type: ignore[no-untyped-def]
    """phi = 1, the recent errors in units, and of each of the deviations z (d,) z and |z|."""
    phi[0] = 1.0
    for i in range(4):
        recent = seen[RECENT + i] / seen[UNIT] if seen[UNIT] > 0.0 else 0.0
        phi[1 + i] = min(max(recent, -4.0), 4.0) - (1.0 if i > 1 else 0.0)
    for j in range(z.shape[0]):
        phi[N_GIVEN + 2 * j] = z[j]
        phi[N_GIVEN + 1 + 2 * j] = abs(z[j]) - 0.8


@compiled
def quantile_offsets(seen, theta, rules, phi, offsets, mixture):  # type: ignore[no-untyped-def]
    """Write the offsets of each level's experts (K, E) and of their mixture (K,)."""
    n_rates = theta.shape[1]
    for k in range(theta.shape[0]):
        for r in range(n_rates):
            offsets[k, r] = seen[UNIT] * dot(theta[k, r], phi)
        given = seen[N_SEEN + k]
        offsets[k, n_rates] = given if abs(given) <= LARGEST_FLOAT else offsets[k, 1]
        total, value, plain = 0.0, 0.0, 0.0
        for i in range(n_rates + 1):
            total += rules[k, WEIGHT, i]
            value += rules[k, WEIGHT, i] * offsets[k, i]
            plain += offsets[k, i]
        mixture[k] = value / total if total > 0.0 else plain / (n_rates + 1)


@compiled
def predict_quantiles(seen, z, state, room, out):  # type: ignore[no-untyped-def]
    """Write the quantiles (K,) in ascending order.

    `state` and `room` are theta, squares, rules, gains and record; and phi, offsets and mixture. A
    level's quantile is clipped to the range of the targets where that has lowered its loss so far.
    """
    theta, _, rules, gains, record = state
    phi, offsets, mixture = room
    describe_quantiles(seen, z, phi)
    quantile_offsets(seen, theta, rules, phi, offsets, mixture)
    for k in range(out.shape[0]):
        value = seen[CENTER] + mixture[k]
        if gains[k] > 0.0:
            value = min(max(value, record[LOWEST]), record[HIGHEST])
        i = k
        while i > 0 and out[i - 1] > value:
            out[i] = out[i - 1]
            i -= 1
        out[i] = value


@compiled
def pinball(level, error):  # type: ignore[no-untyped-def]
    """The pinball loss of a quantile that the target exceeds by `error`."""
    return max(level * error, (level - 1.0) * error)


@compiled
def learn_quantiles(y, w, seen, z, levels, state, room):  # type: ignore[no-untyped-def]
    """Learn that y, of weight w, is the target of what was predicted."""
    theta, squares, rules, gains, record = state
    phi, offsets, mixture = room
    error, unit = bounded(y - seen[CENTER]), seen[UNIT]
    if unit > 0.0:
        describe_quantiles(seen, z, phi)
        quantile_offsets(seen, theta, rules, phi, offsets, mixture)
        for k in range(levels.shape[0]):
            level = levels[k]
            slope = (1.0 if error < mixture[k] else 0.0) - level
            held = min(max(seen[CENTER] + mixture[k], record[LOWEST]), record[HIGHEST])
            gain = pinball(level, error - mixture[k]) - pinball(level, y - held)
            gain = min(max(gain / unit, -LARGEST_REGRET), LARGEST_REGRET)
            gains[k] = DISCOUNT * gains[k] + w * gain
            for i in range(offsets.shape[1]):
                r = slope * (mixture[k] - offsets[k, i]) / unit
                r = min(max(r, -LARGEST_REGRET), LARGEST_REGRET)
                regret(rules[k], i, w * r, DISCOUNT)
            for i in range(theta.shape[1]):
                up = w * (level - (1.0 if error < offsets[k, i] else 0.0))
                for j in range(phi.shape[0]):
                    g = up * phi[j]
                    squares[k, i, j] += g * g
                    theta[k, i, j] += RATES[i] * g / np.sqrt(squares[k, i, j] + 1e-8)
    size = abs(error)
    if record[EVENTS] == 0.0:
        record[LOWEST] = record[HIGHEST] = y
    record[EVENTS] += 1.0
    record[LOWEST], record[HIGHEST] = min(record[LOWEST], y), max(record[HIGHEST], y)
    record[UNIT] += (size - record[UNIT]) / min(record[EVENTS], 1000.0)
    for i in range(4):
        record[RECENT + i] += PACES[i] * ((error if i < 2 else size) - record[RECENT + i])
