"""A fast and a slow running mean of |error|."""

from iln_stream.compiled.jit import compiled

EVENTS, FAST, SLOW = range(3)
"""Indices into the record."""

LARGEST_ERROR = 2.0


@compiled
def join_drift(record, error):  # type: ignore[no-untyped-def]
    """Add |error|, in units of the target's scale, to the means over about 50 and 1000 events."""
    bounded = min(error, LARGEST_ERROR)
    record[EVENTS] += 1.0
    record[FAST] += (bounded - record[FAST]) / min(record[EVENTS], 50.0)
    record[SLOW] += (bounded - record[SLOW]) / min(record[EVENTS], 1000.0)
