"""The experiment `concentration`, in its quick mode."""

import numpy as np
import pytest

from iln_stream.research.experiments.concentration import (
    ESTIMATES,
    _lemma_2,
    cases,
    estimates,
    exact_sign_tail,
    exceeded,
    printed_lemma_2,
)


@pytest.mark.thorough
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


@pytest.mark.thorough
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


def test_lemma_2():
    """The printed Lemma 2 has no counter-example among signs; the corrected one is a bit weaker. No
    other eta t comes nearer to the printed bound than the stated ratio."""
    worst = _lemma_2()
    assert 0 < worst["corrected"] < worst["printed"] <= 1
    for m in range(1, 20):
        for product in np.geomspace(0.4706, 12.0, 100).tolist():
            tail, bound = exact_sign_tail(m, 8 / (17 * product)), printed_lemma_2(m, product, 1)
            assert bound == 1 or tail <= worst["printed"] * bound


@pytest.mark.thorough
def test_notes_and_plot(result, legend):
    """The notes give both counts."""
    assert "Eq. 19 as printed is exceeded in" in result.notes[0]
    assert "exceeded in 0 cases" in result.notes[2]
    assert len(legend) == 6
