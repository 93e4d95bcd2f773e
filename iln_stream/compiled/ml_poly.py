"""ML-Poly: second-order aggregation of experts by their regrets."""

import numpy as np

from iln_stream.compiled.jit import compiled

REGRET, VARIATION, LARGEST, WEIGHT = range(4)
"""Rows of the rule's state, shape (4, K)."""

DISCOUNT = 0.999
"""Factor by which past regrets are discounted at each event."""

LEAST = 1e-300
"""Least denominator: without any regret so far, 0 is divided by this, not by 0."""


@compiled
def mixed(state, p):  # type: ignore[no-untyped-def]
    """The weighted mean of the experts' predictions p, shape (K,)."""
    K = p.shape[0]
    total = 0.0
    value = 0.0
    for i in range(K):
        total += state[WEIGHT, i]
        value += state[WEIGHT, i] * p[i]
    return value / total


@compiled
def mixed_of(state, p, counts):  # type: ignore[no-untyped-def]
    """The weighted mean of those p (K,) that count, which the others then adopt.

    It is their mean where none of them has weight, and 0 where none counts.
    """
    total, value, plain, n = 0.0, 0.0, 0.0, 0.0
    for i in range(p.shape[0]):
        if counts[i]:
            total += state[WEIGHT, i]
            value += state[WEIGHT, i] * p[i]
            plain += p[i]
            n += 1.0
    value = value / total if total != 0.0 else plain / max(n, 1.0)
    for i in range(p.shape[0]):
        p[i] = p[i] if counts[i] else value
    return value


@compiled
def regret(state, i, r, discount):  # type: ignore[no-untyped-def]
    """Add r, the mixture's regret to expert i at an event, and update the expert's weight."""
    state[REGRET, i] = discount * state[REGRET, i] + r
    state[VARIATION, i] = discount * state[VARIATION, i] + r * r
    state[LARGEST, i] = max(discount * state[LARGEST, i], r * r)
    scale = max(state[VARIATION, i] + state[LARGEST, i], LEAST)
    state[WEIGHT, i] = max(state[REGRET, i], 0.0) / scale


@compiled
def normalise(state):  # type: ignore[no-untyped-def]
    """Normalise the weights to sum to one; they are equal where no expert has positive regret."""
    K = state.shape[1]
    total = 0.0
    for i in range(K):
        total += state[WEIGHT, i]
    for i in range(K):
        state[WEIGHT, i] = state[WEIGHT, i] / total if total > 0.0 else 1.0 / K


@compiled
def update_regrets(state, p, mixture, t, w, unit, squared, discount):  # type: ignore[no-untyped-def]
    """Score the experts by t: r_k = loss'(mixture) (mixture - p_k), clipped to +-2, times w.

    `unit` is the size of an ordinary error, the unit of regrets.
    """
    e = (mixture - t) / unit
    slope = e if squared else np.sign(e)
    for i in range(p.shape[0]):
        r = min(max(slope * (mixture - p[i]) / unit, -2.0), 2.0)
        regret(state, i, w * r, discount)
    normalise(state)


EVENTS, ORDINARY_ERROR = 0, 1
"""Indices into a rule's record: events scored, the mixture's mean |error| over the last 1000."""


@compiled
def update_rule(state, record, p, mixture, t, w, squared, discount):  # type: ignore[no-untyped-def]
    """`update_regrets`, in units of the mixture's mean |error| so far, this event's included.

    Each error counts once in that mean, whatever its weight w.
    """
    record[EVENTS] += 1.0
    error = abs(t - mixture)
    record[ORDINARY_ERROR] += (error - record[ORDINARY_ERROR]) / min(record[EVENTS], 1000.0)
    if record[ORDINARY_ERROR] > 0.0:
        unit = max(record[ORDINARY_ERROR], 1e-12)
        update_regrets(state, p, mixture, t, w, unit, squared, discount)
