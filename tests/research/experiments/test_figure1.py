"""The experiment `figure1`, in its quick mode."""

import numpy as np

from iln_stream.research.experiments.figure1 import (
    EXACT,
    FIXED,
    LEARNERS,
    READINGS,
    SHRINK,
    stream,
)


def test_what_must_hold(result):
    """The exact kernel loses less than Algorithm 1's samples, E_t more than f_t, and equal draws
    make Fixed-Random nearly the kernel."""
    readings = result.figures["readings"]
    means = {
        title: {
            name: np.mean([p["mean"] for p in points]) for name, points in found["losses"].items()
        }
        for title, found in readings.items()
    }
    of_f, of_E = means["50 units each, loss of f"], means["50 units each, loss of E"]
    assert of_f[EXACT] < of_f[SHRINK] < of_E[SHRINK]
    assert means["equal draws, loss of f"][FIXED] < of_f[FIXED]


def test_equal_budgets(result):
    """The readings of equal psi evaluations and of equal draws are within 1 % of equal."""
    spent = {(b["learner"], b["units"]): b for b in result.figures["budgets"]}
    for key, title in (("psi", "equal psi, loss of f"), ("draws", "equal draws, loss of f")):
        units = READINGS[title].units
        counts = [spent[name, units[name]][key] for name in LEARNERS if name != EXACT]
        assert max(counts) <= 1.01 * min(counts), key


def test_stream():
    """Every learner gets the same stream; y has variance 1; clipping keeps |psi| <= 1."""
    X, y = stream(550, 1, False)
    assert np.array_equal(y, stream(550, 1, False)[1])
    assert 0.5 < np.var(y) < 1.5
    assert np.abs(X).max() > 1
    assert np.abs(stream(550, 1, True)[0]).max() == 1


def test_notes_and_plot(result, legend):
    """The notes count the D at which each half of the order holds."""
    assert len(result.notes) == 1 + len(READINGS)
    assert len(legend) == len(LEARNERS) + 3
