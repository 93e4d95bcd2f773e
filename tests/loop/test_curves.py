"""`SampledCurves`: bounded, whatever the metrics."""

import math

import pytest

from iln_stream.loop.live import FIRST_STRIDE, MOST_LABELS, MOST_POINTS, SampledCurves
from iln_stream.reporting import MetricSpec


class Counted:
    """A metric that says how many steps there were, and one with labels."""

    def __init__(self):
        self.n = 0
        self.specs = [
            MetricSpec("iln_recent_error_ratio", "gauge", "n.", lambda: float(self.n)),
            MetricSpec("iln_expert_weight", "gauge", "By label.", self.weights, "expert"),
        ]

    def weights(self):
        return {"a": 1.0 / self.n, "late": None if self.n < 100 else 2.0}


def run(curves, counted, until):
    """Let the curves sample up to a step, as the listener does."""
    while counted.n < until:
        counted.n += 1
        if counted.n == curves.due:
            curves.sample(counted.n, counted.n, counted.specs)


@pytest.mark.parametrize("n", [7, 4095, 4096, 100_000])
def test_bounded(n):
    """There are at most 128 points, evenly spaced from the beginning to the last stride; each has
    the value at its own step."""
    curves = SampledCurves()
    run(curves, Counted(), n)
    data = curves.data(0)
    stride = data["stride"]
    assert data["serials"] == list(range(stride, n + 1, stride))
    assert len(data["serials"]) < MOST_POINTS
    assert data["series"].get("iln_recent_error_ratio", []) == [float(n) for n in data["serials"]]
    assert n < MOST_POINTS * FIRST_STRIDE or len(data["serials"]) >= MOST_POINTS // 2 - 1


def test_labels_are_bounded():
    """A metric with ever new labels gets a bounded number of curves, as snapshots hold them."""
    names = iter(range(10_000))
    spec = MetricSpec(
        "iln_expert_weight", "gauge", "New ones.", lambda: {next(names): 1.0}, "expert"
    )
    curves = SampledCurves()
    for serial in range(8, 800, 8):
        curves.sample(serial, serial, [spec])
    assert len(curves.data(0)["series"]["iln_expert_weight"]) == MOST_LABELS


@pytest.mark.parametrize("value", [math.nan, math.inf, None, ZeroDivisionError])
def test_no_value(value):
    """A metric that is not finite, fails or has no value is null, and the others have theirs."""

    def read():
        if value is ZeroDivisionError:
            raise ZeroDivisionError
        return value

    curves, counted = SampledCurves(), Counted()
    counted.n = 8
    curves.sample(8, 8, [MetricSpec("faulty", "gauge", "None.", read), *counted.specs])
    assert curves.data(0)["series"].get("faulty", [None]) == [None]
    assert curves.data(0)["series"]["iln_recent_error_ratio"] == [8.0]
