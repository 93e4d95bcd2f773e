import numpy as np
import pytest
from river import datasets, dummy, metrics, stats

from iln_stream.plotting import (
    errors_of_commonest_class,
    errors_of_running_mean,
    mean_of_latest,
    mean_so_far,
)


def test_the_running_mean_is_rivers():
    """The baseline's error is that of River's regressor of the mean, event by event."""
    labels = [y for _, y in datasets.TrumpApproval().take(50)]
    model, metric, expected = dummy.StatisticRegressor(stats.Mean()), metrics.MAE(), []
    for y in labels:
        metric.update(y, model.predict_one({}))
        model.learn_one({}, y)
        expected.append(metric.get())
    found = mean_so_far(errors_of_running_mean(np.array(labels)))
    assert found == pytest.approx(expected)


def test_the_commonest_class():
    """The class that came most often predicts; the earlier of two that came equally often."""
    found = errors_of_commonest_class(["a", "b", "b", "b", "a"])
    assert found.tolist() == [1.0, 1.0, 1.0, 0.0, 1.0]


def test_true_and_one_are_two_classes():
    """A class is known by its type, too."""
    assert errors_of_commonest_class([True, True, 1]).tolist() == [1.0, 0.0, 1.0]


def test_no_labels():
    """Nothing has no errors."""
    nothing = np.array([])
    assert len(errors_of_running_mean(nothing)) == len(errors_of_commonest_class([])) == 0
    assert len(mean_so_far(nothing)) == len(mean_of_latest(nothing, 3)) == 0


def test_the_latest_errors():
    """The mean is over exactly the last errors, and unknown before there are so many."""
    errors = np.random.default_rng(1).random(20)
    found = mean_of_latest(errors, 7)
    assert np.isnan(found[:6]).all()
    assert found[6:] == pytest.approx([errors[i - 6 : i + 1].mean() for i in range(6, 20)])
