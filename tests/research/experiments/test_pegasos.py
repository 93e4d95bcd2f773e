"""The experiment `pegasos`, run in its quick mode on the substitute and drawn."""

import numpy as np
import pytest

from iln_stream.research.experiments import pegasos
from iln_stream.research.experiments.data import Split, synthetic_census
from iln_stream.research.experiments.pegasos import BATCH, ONLINE, QUICK, _fit, _learn

SEEDS = 2  # for standard errors


@pytest.mark.parametrize("name", [*ONLINE, *BATCH])
def test_methods_learn(name):
    """Of two equal classes of the substitute, which a hyperplane separates, the test error is below
    .3, where guessing has .5."""
    data, rng = synthetic_census(2000, 1000), np.random.default_rng(0)
    w = rng.standard_normal(data.X.shape[1])
    y, labels = (np.where(Z @ w > np.median(data.X @ w), 1.0, -1.0) for Z in (data.X, data.Z))
    split = Split(data.X, y, data.Z, labels, "halves")
    if name in ONLINE:
        error = _learn(ONLINE[name](), split, [3000], rng)[-1]["error"]
    else:
        error = _fit(BATCH[name], split, 2000, 0)["error"]
    assert error < 0.3


@pytest.mark.thorough
def test_every_point(result):
    """Each method has an error and a standard error at each size; the machine trained to its
    optimum ends below the error of guessing."""
    figures = result.figures
    assert list(figures["methods"]) == [*ONLINE, *BATCH]
    for points in figures["methods"].values():
        assert [point["n"] for point in points] == list(QUICK.sizes)
        assert all(point["error"]["standard_error"] is not None for point in points)
    optimum = figures["methods"]["linear SVM, optimum"][-1]
    assert optimum["error"]["mean"] < figures["guessing"] - 0.01


@pytest.mark.thorough
def test_accounts(result):
    """Budgets hold, and only kernel methods evaluate kernels."""
    methods = result.figures["methods"]
    assert methods["budget 200, merging"][-1]["units"]["mean"] == 200
    assert methods["kernel Pegasos"][-1]["units"]["mean"] > 200
    assert methods["Pegasos"][-1]["kernels"]["mean"] == 0
    assert methods["budget 200, merging"][-1]["kernels"]["mean"] > 200


def test_verdicts():
    """A method with a number in its source is compared with it at two standard errors of the
    difference, and a run that cannot discriminate says so; others get no verdict."""

    def note(mean, error):
        point = {"n": 9, "error": {"mean": mean, "standard_error": error}, "seconds": {"mean": 1.0}}
        figures = {
            "sources": {"Pegasos": (0.15, 0.0006)},
            "data": "adult",
            "guessing": 0.24,
            "methods": {"Pegasos": [point], "NORMA": [point]},
        }
        _, ours, other = pegasos._notes(figures, full=True)
        assert "source" not in other
        return ours

    assert "15.18% ± 0.08% after 9 events, 1 s; the source has 15.00%" in note(0.1518, 0.0008)
    assert "not distinguishable" in note(0.1518, 0.0008)
    assert "ours is higher" in note(0.1522, 0.0008)
    assert "ours is lower" in note(0.1478, 0.0008)
    assert "too few runs to tell" in note(0.158, 0.006)
    assert "too few runs to tell" in note(0.158, None)


@pytest.mark.thorough
def test_notes_and_plot(result, legend):
    """On the substitute no verdict about the sources is given."""
    assert "synthetic" in result.notes[0]
    assert (len(result.notes), len(legend)) == (1, len(ONLINE | BATCH))
