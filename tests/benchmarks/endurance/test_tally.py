"""Errors by segment and decade, and times."""

import json

import numpy as np
import pytest

from benchmarks.endurance.tally import Tally


def of(errors, cpu=None):
    errors = np.asarray(errors, float)
    cpu = np.full(len(errors), 1e-5) if cpu is None else cpu
    return errors, np.full(len(errors), 4.0), cpu, 2.0 * cpu


def test_segments_and_decades_end_where_they_say():
    """Each figure is of the events between two ends, however the events arrive."""
    tally = Tally()
    for first in range(0, 3_000, 1_000):
        tally.add(*of(np.arange(first, first + 1_000)))
    figures = tally.figures()
    assert [s["end"] for s in figures["segments"]] == [100, 200, 500, 1_000, 2_000, 3_000]
    assert [d["end"] for d in figures["decades"]] == [100, 1_000, 3_000]
    assert figures["segments"][1]["mean"] == pytest.approx(149.5)
    assert figures["decades"][2]["median"] == pytest.approx(2_000, rel=0.02)
    assert figures["decades"][2]["base_mean"] == 4.0


def test_predictions_that_are_not_finite_are_counted_and_located():
    """They enter no mean, so that the others can still be compared."""
    tally = Tally()
    tally.add(*of([1.0] * 150))
    tally.add(*of([1.0, np.nan, np.inf, 1.0]))
    figures = tally.figures()
    assert (figures["n_finite"], figures["first_not_finite"]) == (152, 151)
    assert figures["segments"][-1]["mean"] == 1.0


def test_a_decade_without_a_finite_error_has_no_figures():
    """A record is JSON, which has no nan."""
    tally = Tally()
    tally.add(*of([np.nan] * 100))
    (segment,) = tally.figures()["segments"]
    assert segment["mean"] is segment["median"] is None
    json.dumps(tally.figures(), allow_nan=False)


def test_longest_event_is_located():
    """The longest event and the 99.9 % quantile are in milliseconds."""
    cpu = np.full(2_000, 1e-5)
    cpu[1_234] = 0.5
    tally = Tally()
    tally.add(*of(np.ones(2_000), cpu))
    figures = tally.figures()
    assert (figures["longest_ms"], figures["longest_at"]) == (500.0, 1_234)
    assert figures["longest_wall_ms"] == 1_000.0
    assert figures["p999_ms"] == pytest.approx(0.01, rel=0.02)


def test_a_restored_tally_goes_on():
    """An interrupted run has the figures of a whole one."""
    whole, first = Tally(), Tally()
    rng = np.random.default_rng(1)
    parts = [of(rng.exponential(size=1_000), rng.exponential(size=1_000)) for _ in range(3)]
    for part in parts:
        whole.add(*part)
    first.add(*parts[0])
    second = Tally()
    second.restore(first.state())
    second.add(*parts[1])
    second.add(*parts[2])
    assert second.figures() == whole.figures()
