import numpy as np
import pytest
from matplotlib.figure import Figure

from iln_stream.errors import IlnError
from iln_stream.plotting import plot_predictions


def numbers(n, begin=0, **more):
    """Rows whose predictions are off by 1 + i / n, with intervals of 4."""
    return [
        {"y_pred": float(i), "y": i + 1.0 + i / n, "intervals": {0.9: (i - 2.0, i + 2.0)}, **more}
        for i in range(begin, n)
    ]


def line(axes, label):
    """The data of the line whose label begins so."""
    (found,) = [each for each in axes.lines if each.get_label().startswith(label)]
    return np.asarray(found.get_xdata()), np.asarray(found.get_ydata())


def test_the_latest_predictions_are_drawn():
    """The upper panel has the last predictions and labels, by the number of the event."""
    upper, _ = plot_predictions(numbers(300), last=40).axes
    x, y_pred = line(upper, "prediction")
    assert x.tolist() == list(range(261, 301))
    assert y_pred.tolist() == list(range(260, 300))
    assert line(upper, "label")[1][-1] == pytest.approx(300 + 299 / 300)
    (band,) = upper.collections
    assert band.get_datalim(upper.transData).extents.tolist() == [261, 258, 300, 301]
    assert upper.get_xlabel() == "event (the latest 40 of 300 predictions)"
    assert "90 % interval (has contained 100.0 % of the labels)" in legend(upper)


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_the_errors_are_of_all_predictions():
    """The lower panel has the mean error so far, that of the latest, and the baseline's."""
    _, lower = plot_predictions(numbers(300), last=40, window=50).axes
    errors = 1 + np.arange(300) / 300
    x, so_far = line(lower, "over all")
    assert (x[0], x[-1]) == (21, 300)
    assert so_far[-1] == pytest.approx(errors.mean())
    assert line(lower, "over the latest 50")[1][-1] == pytest.approx(errors[-50:].mean())
    labels = np.array([row["y"] for row in numbers(300)])
    found = line(lower, "if the last value")[1][-1]
    assert found == pytest.approx(np.abs(np.diff(labels, prepend=0.0)).mean())


def test_no_labels():
    """Predictions alone have no errors, and the picture says so."""
    rows = [{"y_pred": 1.0, "y": None} for _ in range(5)]
    _, lower = plot_predictions(rows).axes
    assert [text.get_text() for text in lower.texts] == ["no labels, so no errors"]


def test_long_files_have_short_curves():
    """A curve has at most a thousand points, its last one included."""
    _, lower = plot_predictions(numbers(5000)).axes
    x, _ = line(lower, "over all")
    assert len(x) <= 1000
    assert x[-1] == 5000


def test_against_time():
    """The horizontal axes are time, in order, though partitions were learned in turn."""
    rows = [{"y_pred": float(i), "y": 1.0, "time": 60.0 * (i ^ 1)} for i in range(6)]
    upper, lower = plot_predictions(rows, against="time").axes
    x, y_pred = line(upper, "prediction")
    assert y_pred.tolist() == [1.0, 0.0, 3.0, 2.0, 5.0, 4.0]
    assert (x[1] - x[0]) == np.timedelta64(60, "s")
    assert (upper.get_xlabel(), lower.get_xlabel()) == ("time (UTC)", "time (UTC)")
    x, _ = line(lower, "over all")
    assert x[-1] == np.datetime64("1970-01-01T00:05:00")
    assert (np.diff(x) >= np.timedelta64(0)).all()


def test_classes_right_and_wrong():
    """Of classes the marks are the probabilities, right and wrong ones apart."""
    rows = [
        {"y_pred": i % 3 == 0, "y": True, "probabilities": {i % 3 == 0: 0.5 + i / 100}}
        for i in range(30)
    ]
    upper, lower = plot_predictions(rows).axes
    right, wrong = line(upper, "right"), line(upper, "wrong")
    assert (len(right[0]), len(wrong[0])) == (10, 20)
    assert right[1][1] == pytest.approx(0.53)
    assert line(lower, "over all")[1][-1] == pytest.approx(2 / 3)
    assert lower.get_ylabel() == "share of wrong classes"


def test_units_are_on_the_axes():
    """Both panels say what they show, with the unit."""
    upper, lower = plot_predictions(numbers(30), target="load", unit="MW").axes
    assert (upper.get_ylabel(), lower.get_ylabel()) == ("load (MW)", "mean absolute error (MW)")
    assert (upper.get_xlabel(), lower.get_xlabel()) == ("event", "event")


def test_a_figure_of_ones_own():
    """It draws into a subfigure, and returns it."""
    left, right = Figure().subfigures(1, 2)
    assert plot_predictions(numbers(30), figure=right) is right
    assert (len(left.axes), len(right.axes)) == (0, 2)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"last": 0}, "last must be a number of predictions, at least 1, not 0"),
        ({"against": "id"}, 'against = \'id\': give "event" or "time"'),
        ({"against": "time"}, "not all predictions have a time"),
    ],
)
def test_wrong_options(options, said):
    """The error names the option and what it must be."""
    with pytest.raises(IlnError, match=said):
        plot_predictions(numbers(30), **options)


def test_errors_of_zero_are_drawn():
    """A logarithmic axis could not show a perfect learner."""
    _, lower = plot_predictions([{"y_pred": 1.0, "y": 1.0} for _ in range(50)]).axes
    assert lower.get_yscale() == "linear"
    assert line(lower, "over all")[1].tolist()[-1] == 0.0
