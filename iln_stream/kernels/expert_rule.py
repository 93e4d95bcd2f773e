"""ML-Poly: second-order aggregation of experts by their regrets."""

import numpy as np

from iln_stream.kernels.compiled import compiled

REGRET, VARIATION, LARGEST, WEIGHT = range(4)
"""Rows of the rule's state, shape (4, K)."""

DISCOUNT = 0.999
"""What an event's regret keeps of its weight from one event to the next."""

LEAST = 1e-300
"""Where nothing was ever regretted 0 is divided by this, not by 0."""


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
def regret(state, i, r, discount):  # type: ignore[no-untyped-def]
    """Add what the mixture lost to expert i at an event, r, and let it weigh by its regret."""
    state[REGRET, i] = discount * state[REGRET, i] + r
    state[VARIATION, i] = discount * state[VARIATION, i] + r * r
    state[LARGEST, i] = max(discount * state[LARGEST, i], r * r)
    scale = max(state[VARIATION, i] + state[LARGEST, i], LEAST)
    state[WEIGHT, i] = max(state[REGRET, i], 0.0) / scale


@compiled
def normalise(state):  # type: ignore[no-untyped-def]
    """Let the weights sum to one; all are the same where no expert is regretted."""
    K = state.shape[1]
    total = 0.0
    for i in range(K):
        total += state[WEIGHT, i]
    for i in range(K):
        state[WEIGHT, i] = state[WEIGHT, i] / total if total > 0.0 else 1.0 / K


@compiled
def judge(state, p, mixture, t, unit, squared, discount):  # type: ignore[no-untyped-def]
    """Let the experts be judged by t: r_k = loss'(mixture) (mixture - p_k), within +-2.

    `unit` is the size of an ordinary error, in which regrets are measured.
    """
    e = (mixture - t) / unit
    slope = e if squared else np.sign(e)
    for i in range(p.shape[0]):
        r = min(max(slope * (mixture - p[i]) / unit, -2.0), 2.0)
        regret(state, i, r, discount)
    normalise(state)


EVENTS, ORDINARY_ERROR = 0, 1
"""Places in a rule's record: events judged, and the mixture's mean |error| over the last 1000."""


@compiled
def judge_next(state, record, p, mixture, t, squared, discount):  # type: ignore[no-untyped-def]
    """`judge`, in units of the mixture's errors so far, which this one joins."""
    record[EVENTS] += 1.0
    error = abs(t - mixture)
    record[ORDINARY_ERROR] += (error - record[ORDINARY_ERROR]) / min(record[EVENTS], 1000.0)
    if record[ORDINARY_ERROR] > 0.0:
        judge(state, p, mixture, t, max(record[ORDINARY_ERROR], 1e-12), squared, discount)
