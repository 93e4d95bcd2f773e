import numpy as np
import pytest
from river import datasets, dummy, metrics, stats
from support.prediction_message import message

from iln_stream.errors import IlnError
from iln_stream.plotting import (
    errors_of_commonest_class,
    errors_of_running_mean,
    mean_of_latest,
    mean_so_far,
    read_columns,
)
from iln_stream.records import read_prediction


def number(y_pred, y, **more):
    return {"y_pred": y_pred, "y": y, **more}


def test_errors_are_of_labelled_predictions():
    """A prediction without a label has no error, and the baseline learns only from labels."""
    found = read_columns([number(1.0, 2.0), number(3.0, None), number(5.0, 4.0)], None, None)
    assert found.labelled.tolist() == [0, 2]
    assert found.errors.tolist() == [1.0, 1.0]
    assert found.baseline_errors.tolist() == [2.0, 2.0]
    assert np.isnan(found.y[1])


def test_coverage_is_of_labels_with_an_interval():
    """Ends belong to the interval; what has no label or no interval does not count."""
    rows = [
        number(1.0, 2.0, intervals={0.9: (0.0, 2.0)}),
        number(1.0, 2.1, intervals={0.9: (0.0, 2.0)}),
        number(1.0, None, intervals={0.9: (0.0, 2.0)}),
        number(1.0, 5.0),
    ]
    assert read_columns(rows, None, None).coverage == 0.5
    assert np.isnan(read_columns(rows[2:], None, None).coverage)
    two = [number(1.0, 1.0, intervals={"0.5": (0.0, 2.0), "0.9": (-1.0, 3.0)})]
    assert read_columns(two, None, None).high.tolist() == [3.0]  # the highest level
    assert read_columns(two, 0.5, None).high.tolist() == [2.0]


@pytest.mark.parametrize(
    ("rows", "level", "said"),
    [
        ([], None, "there are no predictions"),
        ([number(1.0, 1.0)], 0.9, r"intervals are missing; .* prediction_intervals = \[0.9\]"),
        ([number(1.0, 1.0, intervals={0.5: (0, 1)})], 0.9, "are of the levels 0.5"),
        ([number(1.0, 1.0, intervals={0.5: 2})], None, "two numbers"),
        ([number(1.0, "cat")], None, "y is 'cat', which is no number"),
        ([number([1.0], 1.0)], None, "y_pred must be numbers"),
    ],
)
def test_what_can_not_be_drawn(rows, level, said):
    """The error names the argument or field, and the remedy."""
    with pytest.raises(IlnError, match=said):
        read_columns(rows, level, None)


def test_classes():
    """Classes have the probability of the predicted one, or 1, and errors of 0 and 1."""
    rows = [
        {"y_pred": None, "y": "a", "probabilities": {}},
        {"y_pred": "a", "y": "a"},
        {"y_pred": "a", "y": "b", "probabilities": {"a": 0.6, "b": 0.4}},
        {"y_pred": "b", "y": None, "probabilities": {"a": 0.3, "b": 0.7}},
    ]
    found = read_columns(rows, None, None)
    assert found.classes
    assert found.y_pred.tolist() == [0.0, 1.0, 0.6, 0.7]
    assert found.errors.tolist() == [1.0, 0.0, 1.0]
    assert found.baseline_errors.tolist() == [1.0, 0.0, 1.0]


def test_forecasts_of_one_horizon():
    """Forecasts of several horizons are no one series: one has to be chosen."""
    rows = [read_prediction(message(i, y_pred=float(i), horizon=h)) for i, h in enumerate("121")]
    with pytest.raises(IlnError, match="of the horizons 1, 2: choose one"):
        read_columns(rows, None, None)
    assert read_columns(rows, None, 1).y_pred.tolist() == [0.0, 2.0]
    with pytest.raises(IlnError, match="horizon = 3: these are predictions of the horizons 1, 2"):
        read_columns(rows, None, 3)
    with pytest.raises(IlnError, match="that are no forecasts"):
        read_columns([number(1.0, 1.0)], None, 3)


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


def test_the_baseline_is_the_better_one():
    """Labels that go up and down are predicted by their mean, those that grow by the last one;
    forecasts never by the last one, as it is not known when they are made.
    """
    growing = [number(0.0, float(i)) for i in range(50)]
    up_and_down = [number(0.0, float(i % 2)) for i in range(50)]
    assert read_columns(up_and_down, None, None).baseline == "mean so far"
    assert read_columns(growing, None, None).baseline == "last value"
    forecasts = [read_prediction(message(i, y=float(i), horizon="1")) for i in range(50)]
    assert read_columns(forecasts, None, None).baseline == "mean so far"


@pytest.mark.parametrize(("hours", "of"), [(1, "day"), (30, "week"), (None, "mean")])
def test_the_same_time_before_is_a_baseline(hours, of):
    """Of a stream that repeats each day, the day before is best, or the week before where a
    forecast is made earlier; of a horizon in records, neither is known to be earlier. Where there
    is no such label, the error is that of the mean."""
    rows = []
    for n in range(24 * 20):
        of_target = {"horizon_time": 3600.0 * n} if hours else {}
        more = {"y": n % 24, "horizon": "1", "time": 3600.0 * (n - (hours or 0)), **of_target}
        rows.append(read_prediction(message(n, **more)))
    found = read_columns(rows, None, None)
    assert found.baseline == (f"label of a {of} before" if hours else "mean so far")
    assert found.baseline_errors[1] == 1.0
    assert found.baseline_errors[-200:].any() == (hours is None)


def test_the_commonest_class():
    """The class that came most often predicts; the earlier of two that came equally often. A class
    is known by its type, too.
    """
    found = errors_of_commonest_class(["a", "b", "b", "b", "a"])
    assert found.tolist() == [1.0, 1.0, 1.0, 0.0, 1.0]
    assert errors_of_commonest_class([True, True, 1]).tolist() == [1.0, 0.0, 1.0]


def test_the_latest_errors():
    """The mean is over exactly the last errors, and unknown before there are so many."""
    errors = np.random.default_rng(1).random(20)
    found = mean_of_latest(errors, 7)
    assert np.isnan(found[:6]).all()
    assert found[6:] == pytest.approx([errors[i - 6 : i + 1].mean() for i in range(6, 20)])
