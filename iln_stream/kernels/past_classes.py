"""Class probabilities from the past classes alone.

The classes y (N,) of the last N events are a ring: that of event i is at i % N.
"""

import numpy as np

from iln_stream.kernels.jit import compiled

LONGEST = 512
"""The longest period."""

SPANS = np.array([20.0, 200.0])
"""Events over which the classes' rates are taken."""

COUNTED = 300.0
"""Events after a class over which its successors are counted, about."""

OBSERVED = 100.0
"""Events over which it is observed how often a prediction is right, about."""

PRIOR = 4.0
"""Weight, in events, of what is assumed before anything is counted."""

NO_CHANGE, SUCCESSORS, SEASONAL, RATES = range(4)
"""Indices of the predictions; the last is that of the first rates."""

RIGHT, ALL = range(2)
"""Indices of the record of a prediction: how often it was right, and how often there was one."""


@compiled
def last_class(y, n, delay):  # type: ignore[no-untyped-def]
    """The last class that was known when n - delay events were; -1 if there was none."""
    last = n - 1 - delay
    return int(y[last % y.shape[0]]) if last >= 0 and delay < y.shape[0] else -1


@compiled
def seasonal_class(y, n, matches, delay, ahead):  # type: ignore[no-untyped-def]
    """The class one period before the event that is learned after n and `ahead` more; or -1.

    The period is the one longer than the delay that matched most often.
    """
    best = delay + ahead
    if best >= matches.shape[0]:
        return -1
    for i in range(best + 1, matches.shape[0]):
        if matches[i] > matches[best]:
            best = i
    before = n + ahead - (best + 1)
    return int(y[before % y.shape[0]]) if before >= 0 else -1


@compiled
def predict(y, n, delay, ahead, rates, successors, matches, records, counts, p):  # type: ignore[no-untyped-def]
    """Fill p (5, C), for an event that is learned after n and `ahead` more.

    `counts` (C,) are of the classes' events; the other arrays are those of `PastClasses`.
    """
    C = counts.shape[0]
    total = 0.0
    for c in range(C):
        total += counts[c]
    frequency = p[RATES]
    for c in range(C):
        frequency[c] = (counts[c] + 1.0) / (total + C)
    last = last_class(y, n, delay)
    likely(last, records[0], frequency, p[NO_CHANGE])
    likely(seasonal_class(y, n, matches, delay, ahead), records[1], frequency, p[SEASONAL])
    known = 0 <= last < successors.shape[0]
    followed = 0.0
    if known:
        for c in range(C):
            followed += successors[last, c]
    for c in range(C):
        count = successors[last, c] if known else 0.0
        p[SUCCESSORS, c] = (count + PRIOR * p[NO_CHANGE, c]) / (followed + PRIOR)
    for i in range(rates.shape[0] - 1, -1, -1):  # the first one's place has the frequencies
        rest = 1.0
        for c in range(C):
            rest -= rates[i, c]
        for c in range(C):
            p[RATES + i, c] = rates[i, c] + rest * frequency[c]


@compiled
def likely(label, record, frequency, p):  # type: ignore[no-untyped-def]
    """Fill p (C,): a class has the share in which it was right lately, the others the rest."""
    C = p.shape[0]
    others = 0.0
    for c in range(C):
        if c != label:
            others += frequency[c]
    if label < 0 or others <= 0.0:
        for c in range(C):
            p[c] = frequency[c]
        return
    share = (record[RIGHT] + PRIOR * frequency[label]) / (record[ALL] + PRIOR)
    for c in range(C):
        p[c] = frequency[c] * (1.0 - share) / others
    p[label] = share


@compiled
def learn(y, n, delay, rates, successors, matches, records, label, w):  # type: ignore[no-untyped-def]
    """Learn the class of an event that is not in the ring yet, with weight w, at most 1."""
    last = last_class(y, n, delay)
    for i in range(2):
        predicted = last if i == 0 else seasonal_class(y, n, matches, delay, 0)
        if predicted >= 0:
            records[i, RIGHT] += w * ((predicted == label) - records[i, RIGHT] / OBSERVED)
            records[i, ALL] += w * (1.0 - records[i, ALL] / OBSERVED)
    if 0 <= last < successors.shape[0]:
        for c in range(successors.shape[1]):
            successors[last, c] *= 1.0 - w / COUNTED
        successors[last, label] += w
    for i in range(rates.shape[0]):
        for c in range(rates.shape[1]):
            rates[i, c] *= 1.0 - w / SPANS[i]
        rates[i, label] += w / SPANS[i]
    for i in range(matches.shape[0]):
        before = n - 1 - i
        matched = before >= 0 and y[before % y.shape[0]] == label
        matches[i] += w / OBSERVED * (matched - matches[i])
