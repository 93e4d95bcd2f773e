import numpy as np
import pytest
from kernels.plain import running_mean

from iln_stream.kernels.regression_event import EVENTS, FAST, LARGEST_ERROR, SLOW, join_drift


def test_no_more_events_than_a_mean_is_over():
    """The first 50 errors have plain means, an error beyond two counts as two."""
    record, errors = np.zeros(3), []
    for error in [0.0, 0.5, 1e150, 2.0, 3.0, *np.random.default_rng(0).exponential(size=45)]:
        join_drift(record, error)
        errors.append(min(error, LARGEST_ERROR))
        expected = [len(errors), np.mean(errors), np.mean(errors)]
        assert record[[EVENTS, FAST, SLOW]] == pytest.approx(expected)


def test_outlives_its_horizon():
    """After 60,000 events, sixty of its horizons, each mean is the weighted sum of all errors."""
    errors = np.random.default_rng(1).exponential(size=60_000)
    errors[30_000:] *= 3.0
    record = np.zeros(3)
    for error in errors.tolist():
        join_drift(record, error)
    bounded = np.minimum(errors, LARGEST_ERROR)
    for place, horizon in ((FAST, 50), (SLOW, 1000)):
        weights = (1.0 - 1.0 / horizon) ** np.arange(len(errors))[::-1]
        later = weights[horizon:] @ bounded[horizon:] / horizon
        expected = later + weights[horizon - 1] * bounded[:horizon].mean()
        assert record[place] == pytest.approx(expected, rel=1e-10)
        assert record[place] == pytest.approx(running_mean(bounded, horizon), rel=1e-10)
    assert record[EVENTS] == len(errors)
