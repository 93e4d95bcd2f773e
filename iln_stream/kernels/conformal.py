"""A sorted window of scores, and levels that adapt to what was covered."""

import numpy as np

from iln_stream.kernels.compiled import compiled

RATE = 0.02
"""How far a miss moves a level."""


@compiled
def quantile(ordered, n, level):  # type: ignore[no-untyped-def]
    """The conformal quantile of the n smallest entries: of order ceil((n + 1) level), at most n."""
    if n == 0:
        return 0.0
    i = int(np.ceil((n + 1) * level)) - 1
    return ordered[min(max(i, 0), n - 1)]


@compiled
def replace(ordered, n, old, new):  # type: ignore[no-untyped-def]
    """Put `new` into the first n sorted entries; in place of `old` if all of them are taken."""
    i = n
    if n == ordered.shape[0]:
        i = np.searchsorted(ordered, old)
        while i + 1 < n and ordered[i + 1] < new:
            ordered[i] = ordered[i + 1]
            i += 1
    while i > 0 and ordered[i - 1] > new:
        ordered[i] = ordered[i - 1]
        i -= 1
    ordered[i] = new


@compiled
def adapt(effective, levels, ordered, n, score):  # type: ignore[no-untyped-def]
    """A level whose interval missed the score rises, one whose covered it falls a little."""
    for i in range(levels.shape[0]):
        missed = 1.0 if score > quantile(ordered, n, effective[i]) else 0.0
        moved = effective[i] + RATE * (missed - (1.0 - levels[i]))
        effective[i] = min(max(moved, 0.0), 1.0)


@compiled
def remember_score(ring, ordered, effective, levels, n, score):  # type: ignore[no-untyped-def]
    """Let the score of event n adapt the levels, then join the window in place of the oldest."""
    size = ring.shape[0]
    filled = min(n, size)
    adapt(effective, levels, ordered, filled, score)
    replace(ordered, filled, ring[n % size], score)
    ring[n % size] = score
