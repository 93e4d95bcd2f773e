"""The frame of results."""

import json

import pytest

from iln_stream.research.experiments.result import Result, mean_and_error


class Axes:
    """Stands for axes: records what is drawn."""

    def __init__(self):
        self.calls = []

    def plot(self, *values):
        self.calls.append(values)

    def set_title(self, title):
        self.title = title


def result(full):
    return Result(
        "example", {"full": full}, {"y": [1.0, 2.0]}, ["A note."], lambda a, f: a.plot(f["y"])
    )


def test_plot_draws_the_figures():
    """The drawing gets the figures, and the title says whether the run was quick."""
    axes = Axes()
    result(full=True).plot(axes)
    assert (axes.calls, axes.title) == ([([1.0, 2.0],)], "example")
    result(full=False).plot(axes)
    assert axes.title.startswith("example (quick run")


def test_document_is_json():
    """All but the drawing can be stored, with versions."""
    document = json.loads(json.dumps(result(full=True).document()))
    assert document["figures"] == {"y": [1.0, 2.0]}
    assert document["notes"] == ["A note."]
    assert {"iln_stream", "numpy", "python"} == set(document["versions"])


def test_mean_and_error():
    """The standard error is that of the mean; one value has none."""
    found = mean_and_error([1.0, 2.0, 3.0, 6.0])
    assert found["mean"] == 3.0
    assert found["standard_error"] == pytest.approx((14 / 3) ** 0.5 / 2)
    assert mean_and_error([2.0]) == {"mean": 2.0, "standard_error": None}
