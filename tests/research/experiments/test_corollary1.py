"""The experiment `corollary1`, in its quick mode."""

import numpy as np
import pytest

from iln_stream.research.experiments.corollary1 import METHODS, sample
from iln_stream.research.experiments.regret import WAYS, losses


def test_more_events_and_a_larger_ball(result):
    """Each method's excess risk falls with T; a larger ball costs Algorithm 1 more at equal T."""
    last = {}
    for each in result.figures["runs"]:
        first, *_, last[each["method"], each["B"]] = (point["mean"] for point in each["excess"])
        assert 0 < last[each["method"], each["B"]] < first, each
    for name in METHODS:
        assert last[name, 4.0] > last[name, 1.0], name


def test_shrinks_matter(result):
    """With four draws Algorithm 1 shrinks and f stays near the best; without shrinks f is lost.
    With 64 draws nothing shrinks, so that both are one run."""
    few, enough = result.figures["shrinking"]
    assert few["shrinks"]["mean"] >= 1
    assert few["f_with"]["mean"] < 0.1 < 1.0 < few["f_without"]["mean"]
    assert enough["shrinks"]["mean"] == 0
    assert enough["f_with"] == enough["f_without"]


def test_the_average():
    """f_S is the mean of f_1 to f_T, not the last f."""
    train = sample(40, 1, seed=0).train
    done = [losses(train.first(t), 1.0, WAYS["exact E, anytime"], 0) for t in (39, 40)]
    last = 40 * done[1].average - 39 * done[0].average  # f_40
    error = (train.L[39] @ last - train.y[39]) ** 2 / 2
    assert done[1].f[39] == pytest.approx(error)
    assert np.linalg.norm(done[1].average) < np.linalg.norm(last)


def test_notes_and_plot(result, legend):
    """Each run has a note with its exponent, each number of draws one with its shrinks."""
    assert len(result.notes) == len(result.figures["runs"]) + 2
    assert sum("exponent" in note for note in result.notes) == len(result.figures["runs"])
    assert len(legend) == len(result.figures["runs"]) + 1
