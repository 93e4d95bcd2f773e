"""The experiment `fast_rates`, quick."""

import pytest

from iln_stream.research.experiments.fast_rates import BY_LAW, BY_SCORES, KERNEL, TOO_FEW, Exponents


def test_rates(result):
    """Both samplings keep the kernel's rate with the theorems' numbers of features."""
    for case in result.figures["cases"]:
        kernel = case["methods"][KERNEL]["excess_risk"][-1]["mean"]
        for name in (BY_LAW, BY_SCORES):
            risks = [point["mean"] for point in case["methods"][name]["excess_risk"]]
            assert risks[-1] < 0.75 * risks[0], (case, name)
            assert risks[-1] < 1.5 * kernel, (case, name)


def test_too_few_features_are_slower(result):
    """With fewer features than the theorems have, the kernel's rate is lost in each case: the
    experiment can tell."""
    for case in result.figures["cases"]:
        few, kernel = (
            case["methods"][name]["excess_risk"][-1]["mean"] for name in (TOO_FEW, KERNEL)
        )
        assert few > 1.2 * kernel, case


def test_exponents():
    """The worst case has M = sqrt(n) for 1 / sqrt(n); more regularity or less capacity, less."""
    worst = Exponents.of(1.0, 0.5)
    assert worst == pytest.approx((-0.5, 0.5, 0.5))


def test_notes_and_plot(result, legend):
    """Each case has a note with the theorems' exponents and those found."""
    assert len(result.notes) == 4
    assert all("the theorems have n^-0." in note for note in result.notes)
    assert len(legend) == 5
