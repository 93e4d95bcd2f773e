"""The experiment `concentration`, in its quick mode."""

import json

import numpy as np
import pytest

from iln_stream.research.experiments import concentration
from iln_stream.research.experiments.concentration import (
    ESTIMATES,
    Signs,
    cases,
    estimates,
    exact_sign_tail,
    exceeded,
    run,
)


@pytest.fixture(scope="module")
def result():
    return run(full=False, seeds=1, progress=lambda line: None)


def test_refutes_the_printed_bound_only(result):
    """Signs and m = 1 always miss by ||alpha||_1: Eq. 19 is exceeded, the corrected bounds never
    (each by four standard errors)."""
    tails = result.figures["tails"]
    assert [tail for tail in tails if exceeded(tail, "printed")]
    for bound in ("hoeffding", "bernstein"):
        assert [tail for tail in tails if exceeded(tail, bound)] == []
    assert all(
        tail["tail"] == 1.0 for tail in tails if (tail["family"], tail["draws"]) == ("signs", 1)
    )


def test_tails_agree_with_the_exact_law(result):
    """For signs the law of E is binomial, whatever alpha: the counts agree with it within five
    standard errors."""
    for tail in result.figures["tails"]:
        if tail["family"] == "signs":
            exact = exact_sign_tail(tail["draws"], tail["ratio"] * (1 + 1e-9))
            room = 5 * np.sqrt(exact * (1 - exact) / ESTIMATES[False]) + 1e-9
            assert abs(tail["tail"] - exact) <= room, tail


@pytest.mark.parametrize("name", cases(0))
def test_cases_are_sound(name):
    """Estimates of each case are unbiased (within five standard errors), and the family keeps the
    contract that the bounds need."""
    case = cases(1)[name]
    E, exact, _ = estimates(case, 4, 4000, np.random.default_rng(0))
    assert abs(E.mean() - exact) < 5 * E.std() / np.sqrt(len(E))


def test_signs_are_independent():
    """Two points' signs are uncorrelated, and a point's square is 1."""
    w = Signs().draw(4000, 1, np.random.default_rng(0))
    one, other = (Signs().psi(np.array([k]), w) for k in (3.0, 20.0))
    assert set(one) == {-1.0, 1.0}
    assert abs(np.mean(one * other)) < 5 / np.sqrt(4000)
    assert np.array_equal(Signs().psi(np.full((4000, 1), 3.0), w), one)


def test_lemma_2(result):
    """The printed Lemma 2 has no counter-example among signs; the corrected one is a bit weaker."""
    worst = result.figures["lemma_2"]
    assert 0 < worst["corrected"] < worst["printed"] <= 1


def test_notes_and_plot(result):
    """The notes give both counts; the plot draws from the stored figures."""
    from matplotlib.figure import Figure

    assert "Eq. 19 as printed is exceeded in" in result.notes[0]
    assert "exceeded in 0 cases" in result.notes[2]
    axes = Figure().subplots()
    concentration._draw(axes, json.loads(json.dumps(result.document()))["figures"])
    assert len(axes.get_legend().get_texts()) == 6
