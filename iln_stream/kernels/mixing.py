"""How the predictions of experts become one: ML-Poly, and a correction of probabilities.

q_c is proportional to p_c exp(sum_k w_k L_kc), where the features L are log ratios of the experts'
probabilities to p.
"""

import numpy as np

from iln_stream.kernels.jit import compiled
from iln_stream.kernels.regression_event import LARGEST

REGRET, VARIATION, GREATEST, WEIGHT = range(4)
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
    state[GREATEST, i] = max(discount * state[GREATEST, i], r * r)
    scale = max(state[VARIATION, i] + state[GREATEST, i], LEAST)
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


LEAST_PROBABILITY = 1e-4
"""Share of a prediction that is spread evenly, so that no class is impossible."""

LOWEST, HIGHEST = -0.5, 1.5
"""Scores, of indicators, are clipped here."""


@compiled
def soften(scores, sharpness, p):  # type: ignore[no-untyped-def]
    """p (C,) = softmax(sharpness scores); return whether the scores are within +-`LARGEST`."""
    C = scores.shape[0]
    sound, top, total = True, LOWEST, 0.0
    for c in range(C):
        sound = sound and abs(scores[c]) <= LARGEST  # nan is not
        top = max(top, min(scores[c], HIGHEST))
    for c in range(C):
        score = min(max(scores[c], LOWEST), HIGHEST)
        p[c] = np.exp(sharpness * (score - top))
        total += p[c]
    for c in range(C):
        p[c] /= total
    return sound


@compiled
def fill(scores, sharpness, counts, p):  # type: ignore[no-untyped-def]
    """Fill p (S K + 1 + N, C), whose last N rows are probabilities and only get a `LEAST` share.

    Row s K + k = softmax(sharpness_s scores_k), scores (K, C); then the classes' frequencies.
    Return whether all p are finite and all scores within +-`LARGEST`.
    """
    K, C = scores.shape
    S = sharpness.shape[0]
    sound, everything = True, 0.0
    for k in range(K):
        for s in range(S):
            sound = soften(scores[k], sharpness[s], p[s * K + k]) and sound
    n = 0.0
    for c in range(C):
        n += counts[c]
    for c in range(C):
        p[S * K, c] = (counts[c] + 1.0) / (n + C)
    for k in range(p.shape[0]):
        for c in range(C):
            p[k, c] = (1.0 - LEAST_PROBABILITY) * p[k, c] + LEAST_PROBABILITY / C
            everything += p[k, c]
    return sound and abs(everything) < np.inf


@compiled
def log_frequencies(counts, offsets):  # type: ignore[no-untyped-def]
    """offsets (C,) = the logarithms of the classes' smoothed frequencies."""
    C, n = counts.shape[0], 0.0
    for c in range(C):
        n += counts[c]
    for c in range(C):
        offsets[c] = np.log((counts[c] + 0.5) / (n + 0.5 * C))


LARGEST_REGRET = 5.0


@compiled
def mix(state, p, n_awake, mixture):  # type: ignore[no-untyped-def]
    """mixture (C,) = the weighted mean of the first experts' p (K, C); the others adopt it."""
    total = 0.0
    for k in range(n_awake):
        total += state[WEIGHT, k]
    for c in range(mixture.shape[0]):
        s = 0.0
        for k in range(n_awake):
            s += (state[WEIGHT, k] / total if total > 0.0 else 1.0 / n_awake) * p[k, c]
        mixture[c] = s
        for k in range(n_awake, p.shape[0]):
            p[k, c] = s


@compiled
def score(state, p, mixture, label, w):  # type: ignore[no-untyped-def]
    """Score the experts by w times the linearised regrets p_k(y) / mixture(y) - 1, at most 5."""
    for k in range(p.shape[0]):
        r = min(p[k, label] / mixture[label] - 1.0, LARGEST_REGRET)
        if abs(r) < LEAST_REGRET:  # one that adopts the mixture; a lone class
            r = 0.0
        regret(state, k, w * r, DISCOUNT)
    normalise(state)


LEAST_REGRET = 1e-12
"""A smaller one is rounding, and would get all weight where no other is positive."""

LARGEST_RATIO = 8.0
"""Log ratios are clipped here."""

PRECISION = 50.0
"""Precision of the weights' prior around 0."""

FORGETTING = 0.999
"""Factor of past curvature, while the covariance's trace is below that of the prior."""

LARGEST_CHANGE = 1.0
"""A weight above 1 enlarges a step until it changes the logarithm of the observed class's odds by
this: a gradient is known at one point only, and a far longer step would leave all bounds."""

NEGLIGIBLE = 1e-6
"""Curvature in the direction of a class that is less probable is left out."""


@compiled
def correct(weights, p, members, base, ratios, q):  # type: ignore[no-untyped-def]
    """q (C,) = the base (C,) corrected, by ratios (m, C) of the experts' p (K, C) to it.

    The experts' indices are in members (m,). Each class's q is at least `LEAST` / C.
    """
    C = base.shape[0]
    top = -np.inf
    for c in range(C):
        log_base = np.log(base[c])
        s = log_base
        for k in range(members.shape[0]):
            ratio = np.log(p[members[k], c]) - log_base
            ratios[k, c] = min(max(ratio, -LARGEST_RATIO), LARGEST_RATIO)
            s += weights[k] * ratios[k, c]
        q[c] = s
        top = max(top, s)
    total = 0.0
    for c in range(C):
        q[c] = np.exp(q[c] - top)
        total += q[c]
    for c in range(C):
        q[c] = (1.0 - LEAST_PROBABILITY) * q[c] / total + LEAST_PROBABILITY / C


@compiled
def newton_step(weights, covariance, ratios, q, label, w):  # type: ignore[no-untyped-def]
    """Move the weights (m,) by a Newton step, and the covariance (m, m) by the curvature.

    w is the event's weight, see `LARGEST_CHANGE`.
    """
    m, C = ratios.shape
    mean, u = np.zeros(m), np.empty(m)
    trace = 0.0
    for k in range(m):
        trace += covariance[k, k]
        for c in range(C):
            mean[k] += q[c] * ratios[k, c]
    if trace * PRECISION < m:
        for i in range(m):
            for j in range(m):
                covariance[i, j] /= FORGETTING
    for c in range(C):
        if q[c] >= NEGLIGIBLE:
            for i in range(m):
                s = 0.0
                for j in range(m):
                    s += covariance[i, j] * (ratios[j, c] - mean[j])
                u[i] = s
            denominator = 1.0 / (w * q[c])
            for i in range(m):
                denominator += u[i] * (ratios[i, c] - mean[i])
            for i in range(m):
                for j in range(i + 1):
                    covariance[i, j] -= u[i] * u[j] / denominator
                    covariance[j, i] = covariance[i, j]  # what is not symmetric would grow
    change = 0.0
    for i in range(m):
        s = 0.0
        for j in range(m):
            s += covariance[i, j] * (ratios[j, label] - mean[j])
        u[i] = s
        change += s * (ratios[i, label] - mean[i])
    change /= max(1.0 - q[label], NEGLIGIBLE)
    scale = min(w, max(1.0, LARGEST_CHANGE / change)) if change > 0.0 else w
    for i in range(m):
        weights[i] += scale * u[i]
