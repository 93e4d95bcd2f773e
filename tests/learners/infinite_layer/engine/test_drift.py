import numpy as np
import pytest
from kernels import plain

from iln_stream.kernels.regression_event import join_drift
from iln_stream.learners.infinite_layer.target import Drift


def after(errors):
    """A drift signal that was given these errors, in units of the target's scale."""
    drift = Drift()
    for error in errors:
        join_drift(drift.record, error)
    return drift


@pytest.mark.parametrize("n", [1, 40, 60, 1_500])
def test_is_the_ratio_of_two_running_means(n):
    """The means are those of about the last 50 and 1000 |errors|, each within 2 units."""
    errors = np.abs(np.random.default_rng(0).normal(size=n))
    bounded = np.minimum(errors, 2.0)
    wanted = plain.running_mean(bounded, 50) / plain.running_mean(bounded, 1000)
    assert after(errors.tolist()).signal == pytest.approx(wanted)


@pytest.mark.parametrize("errors", [[], [0.0] * 100])
def test_is_one_without_any_error(errors):
    """Before the first event, and while every prediction is exact, nothing drifts."""
    assert after(errors).signal == 1.0


def test_rises_at_a_change_and_settles():
    """Errors that double raise it above 1.5 within 100 events; thousands later they are usual."""
    errors = np.abs(np.random.default_rng(0).normal(scale=0.2, size=2_000)).tolist()
    doubled = [2.0 * error for error in errors]
    assert after(errors).signal == pytest.approx(1.0, abs=0.3)
    assert after(errors + doubled[:100]).signal > 1.5
    assert after(errors + 3 * doubled).signal == pytest.approx(1.0, abs=0.3)


def test_restored_goes_on():
    """A signal restored from its state is the original's, and stays so."""
    drift, twin = after([0.1] * 100), Drift()
    twin.restore(drift.state())
    for each in (drift, twin):
        join_drift(each.record, 1.5)
    assert twin.signal == drift.signal != 1.0
