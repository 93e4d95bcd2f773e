"""Means of |error| over the last events, and over many more."""

from iln_stream.kernels.compiled import compiled

EVENTS, FAST, SLOW = range(3)
"""Places in the record."""

LARGEST_ERROR = 2.0


@compiled
def join_drift(record, error):  # type: ignore[no-untyped-def]
    """Let |error|, in units of the target's scale, join the means over about 50 and 1000 events."""
    bounded = min(error, LARGEST_ERROR)
    record[EVENTS] += 1.0
    record[FAST] += (bounded - record[FAST]) / min(record[EVENTS], 50.0)
    record[SLOW] += (bounded - record[SLOW]) / min(record[EVENTS], 1000.0)
