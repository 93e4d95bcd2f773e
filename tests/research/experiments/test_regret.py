"""The experiment `regret`, in its quick mode."""

import numpy as np
import pytest

from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.research.experiments.regret import (
    FAMILY,
    WAYS,
    anytime,
    doubling,
    known,
    losses,
    streams,
)


def test_within_the_bound(result):
    """With known T and noise in bounds every mean regret is below the proved bound, and regret
    grows (the best f keeps its norm)."""
    for each in result.figures["runs"]:
        if each["way"] in ("exact E", "adaptive m"):
            means = [point["mean"] for point in each["regret_of_f"]]
            assert all(mean <= bound for mean, bound in zip(means, each["bound"], strict=True))
            assert means == sorted(means), each


def test_loss_of_an_estimate_is_larger(result):
    """E_t's loss exceeds f_t's with sampled E, and is the same with exact E."""
    for each in result.figures["runs"]:
        gap = each["regret_of_E"][-1]["mean"] - each["regret_of_f"][-1]["mean"]
        assert gap > 0 if "m" in each["way"].split() else gap == 0, each


@pytest.mark.parametrize("schedule", [known, anytime, doubling])
def test_follows_the_learner(schedule):
    """f_t as the experiment tracks it is that of ShrinkingGradient with the exact kernel."""
    stream = streams(150, seed=3)["coins"].first(150)
    way = WAYS["exact E"]._replace(schedule=schedule)
    f, E, draws, *_ = losses(stream, 1.0, way, seed=0)
    model = ShrinkingGradient(FAMILY, "exact", seed=0)
    for t, (x, y) in enumerate(zip(stream.X, stream.y, strict=True)):
        found = (model.estimate_row(x).value - y) ** 2 / 2
        assert found == pytest.approx(f[t], abs=1e-4)
        model.step = schedule(1.0, t + 1, 150)
        model.learn_row(x, float(y))
    assert np.array_equal(f, E)
    assert draws == 0


def test_schedules():
    """The steps of doubling are those of known T = 1, 3, 7, ..., at most 1."""
    assert known(2.0, 5, 400) == 0.1
    assert doubling(1.0, 1, 0) == 1.0
    assert doubling(1.0, 4, 0) == doubling(1.0, 7, 0) == known(1.0, 0, 7)
    assert doubling(1.0, 8, 0) == known(1.0, 0, 15)
    assert anytime(1.0, 25, 0) == 0.2


def test_streams():
    """Targets are within [-1, 1]; L stands for the kernel; coins are fair (five deviations)."""
    for stream in streams(400, seed=1).values():
        assert np.abs(stream.y).max() <= 1
        kernel = np.array([FAMILY.kernel(stream.X, x) for x in stream.X[:20]])
        assert np.abs(stream.L[:20] @ stream.L.T - kernel).max() < 1e-5
    assert abs(streams(400, seed=1)["coins"].y.mean()) < 5 / 20


def test_notes_and_plot(result, legend):
    """Each way has its exponent and regrets in the notes."""
    assert len(result.notes) == 1 + len(result.figures["runs"]) == len(legend) - 1
    assert all("exponent of f" in note for note in result.notes[1:])
