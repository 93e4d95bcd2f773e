import numpy as np
import pytest

from iln_stream.kernels.conformal import quantile, replace
from iln_stream.learners.infinite_layer.intervals import LEVELS, Intervals


def test_window_stays_sorted():
    """Whatever is replaced by whatever, the window holds the last scores in order."""
    rng = np.random.default_rng(0)
    size, scores = 20, rng.exponential(size=500)
    ordered = np.full(size, 1e300)
    for i, score in enumerate(scores):
        replace(ordered, min(i, size), scores[i - size] if i >= size else 0.0, score)
        last = np.sort(scores[max(0, i + 1 - size) : i + 1])
        assert (ordered[: len(last)] == last).all()


def test_quantile_is_the_conformal_one():
    """Of order ceil((n + 1) level), and the largest where that is beyond the window."""
    ordered = np.arange(1.0, 20.0)
    assert [quantile(ordered, 19, level) for level in (0.0, 0.5, 0.9, 0.99)] == [1, 10, 18, 19]


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
def test_coverage_holds_through_a_change_of_noise(level):
    """Noise that grows tenfold amid the stream: coverage over 6,000 events is within 1.5 %."""
    rng = np.random.default_rng(1)
    intervals = Intervals()
    held = 0
    for n in range(6_000):
        error = abs(rng.normal()) * (0.01 if n < 3_000 else 0.1)
        held += error <= intervals.half_width(level)
        intervals.learn(error)
    assert held / 6_000 == pytest.approx(level, abs=0.015)


def test_wider_for_more():
    """Higher levels are never narrower, those between the adapted ones included."""
    rng = np.random.default_rng(3)
    intervals = Intervals()
    for _ in range(500):
        intervals.learn(abs(rng.normal()))
    widths = [intervals.half_width(level) for level in np.linspace(0.01, 0.999, 200)]
    assert len(LEVELS) == 5
    assert widths == sorted(widths)
