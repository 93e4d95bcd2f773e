"""`Curves`: bounded, a function of the steps alone, and the same after a restart."""

import math

import pytest

from iln_stream.loop.live import FIRST_STRIDE, MOST_LABELS, MOST_POINTS, Curves
from iln_stream.reporting import MetricSpec
from iln_stream.state import pack


class Counted:
    """A metric that says how many steps there were, and one with labels."""

    def __init__(self):
        self.n = 0
        self.specs = [
            MetricSpec("iln_drift", "gauge", "n.", lambda: float(self.n)),
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


@pytest.mark.parametrize("n", [7, 8, 4095, 4096, 4097, 100_000])
def test_bounded(n):
    """There are at most 256 points, evenly spaced from the beginning to the last stride."""
    curves = Curves()
    run(curves, Counted(), n)
    data = curves.data(0)
    stride = data["stride"]
    assert data["serials"] == list(range(stride, n + 1, stride))
    assert len(data["serials"]) < MOST_POINTS
    assert n < MOST_POINTS * FIRST_STRIDE or len(data["serials"]) >= MOST_POINTS // 2 - 1


def test_values_are_those_of_the_step():
    """Each point has the value at its own step, null where a metric had none."""
    curves = Curves()
    run(curves, Counted(), 160)
    data = curves.data(0)
    assert data["series"]["iln_drift"] == [float(n) for n in data["serials"]]
    weights = data["series"]["iln_expert_weight"]
    assert weights["a"] == [1.0 / n for n in data["serials"]]
    assert weights["late"] == [None if n < 100 else 2.0 for n in data["serials"]]


def test_only_points_after_a_serial_number():
    """A client that thins its own points by the stride and appends the new ones has the whole."""
    curves, counted = Curves(), Counted()
    run(curves, counted, 4000)
    have = curves.data(0)["serials"]
    run(curves, counted, 5000)
    new = curves.data(4000)
    kept = [serial for serial in have if serial % new["stride"] == 0]
    assert kept + new["serials"] == curves.data(0)["serials"]
    assert len(new["series"]["iln_drift"]) == len(new["serials"]) < len(kept)


@pytest.mark.parametrize("at", [0, 5, 88, 4100])
def test_continues_from_a_state(at):
    """A run that is interrupted and resumed has the same curves to the last bit."""
    whole, cut_short = Curves(), Curves()
    run(whole, Counted(), 9000)
    counted = Counted()
    run(cut_short, counted, at)
    resumed = Curves()
    resumed.restore(cut_short.state())
    run(resumed, counted, 9000)
    arrays, text = pack(resumed.state())
    whole_arrays, whole_text = pack(whole.state())
    assert text == whole_text
    assert {k: v.tobytes() for k, v in arrays.items()} == {
        k: v.tobytes() for k, v in whole_arrays.items()
    }
    assert resumed.data(0) == whole.data(0)


def test_labels_are_bounded():
    """A metric with ever new labels gets a bounded number of curves, as snapshots hold them."""
    names = iter(range(10_000))
    spec = MetricSpec(
        "iln_expert_weight", "gauge", "New ones.", lambda: {next(names): 1.0}, "expert"
    )
    curves = Curves()
    for serial in range(8, 800, 8):
        curves.sample(serial, serial, [spec])
    assert len(curves.data(0)["series"]["iln_expert_weight"]) == MOST_LABELS


@pytest.mark.parametrize("value", [math.nan, math.inf, None])
def test_no_value(value):
    """A metric that is not finite, or has no value, is null."""
    curves = Curves()
    curves.sample(8, 8, [MetricSpec("iln_drift", "gauge", "None.", lambda: value)])
    assert curves.data(0)["series"].get("iln_drift", [None]) == [None]


def test_a_metric_that_fails():
    """A metric that can't be read has no value, and the others have theirs."""

    def fail():
        raise ZeroDivisionError

    curves, counted = Curves(), Counted()
    counted.n = 8
    curves.sample(8, 8, [MetricSpec("faulty", "gauge", "Fails.", fail), *counted.specs])
    assert curves.data(0)["series"]["iln_drift"] == [8.0]
