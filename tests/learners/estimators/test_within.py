"""Predictions to a requested accuracy."""

import math
import tracemalloc

import pytest
from scipy import stats

from iln_stream import ShrinkingGradient, theory
from iln_stream.features import DecisionStumps, closed_form

pytestmark = pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")


def learned(**parameters):
    model = ShrinkingGradient(DecisionStumps(), seed=1, **parameters)
    for t in range(60):
        model.learn_one({"a": 2 * math.sin(t)}, math.cos(t))
    return model


def test_error_is_within_eps_but_for_delta():
    """At delta = .3 no more than 30 % of independent estimates are off by more than eps."""
    n, delta = 400, 0.3
    model = learned(draws=20)
    support = model._f.support
    row = model._columns.row({"a": 0.4})
    f = float(support.alpha @ closed_form(DecisionStumps())(support.rows(1), row))
    errors = [abs(model._f.estimate_within(row, 1.0, delta, t).value - f) for t in range(n)]
    exceeded = sum(error > 1.0 for error in errors)
    # Wrong with probability < 1e-6 if the true probability is delta; the bound is far from tight.
    assert exceeded <= stats.binom.ppf(1 - 1e-6, n, delta)
    assert max(errors) > 0  # and they are estimates


@pytest.mark.parametrize("estimator", ["sampled", "averaged"])
def test_draws_are_those_of_the_bound(estimator):
    """The draws reported are those of the corrected bound, and memory stays bounded."""
    model = learned(estimator=estimator)
    q = DecisionStumps().q
    for eps in (1.0, 0.1):
        estimate = model.estimate_within({"a": 0.4}, eps, 0.01)
        assert estimate.draws == theory.draws_for(eps, 0.01, model.alpha_l1, q)
    eps = model.alpha_l1 / 1000  # ten million draws, 80 MB in any array of them
    tracemalloc.start()
    estimate = model.estimate_within({"a": 0.4}, eps, 0.01)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert estimate.draws > 10_000_000
    assert peak < 40e6


def test_asking_changes_nothing():
    """It is a prediction: the run continues unaffected, and the same call returns the same E."""
    asked, other = learned(), learned()
    answer = asked.estimate_within({"a": 0.4}, 0.2, 0.1)
    assert asked.estimate_within({"a": 0.4}, 0.2, 0.1) == answer
    for model in (asked, other):
        model.learn_one({"a": 0.4}, 1.0)
    assert asked.last_update == other.last_update


def test_before_the_first_event():
    """f = 0 is known without a draw."""
    assert ShrinkingGradient(seed=1).estimate_within({"a": 1.0}, 0.1, 0.1) == (0.0, 0.0, 0)


def test_a_pool_promises_nothing():
    """The bound needs independent draws, so a pool raises, naming the estimator to use."""
    model = ShrinkingGradient(estimator="pool", seed=1)
    with pytest.raises(ValueError, match="estimator = 'pool' can't guarantee an accuracy"):
        model.estimate_within({"a": 1.0}, 0.1, 0.1)


@pytest.mark.parametrize(("eps", "delta"), [(0.0, 0.1), (-1.0, 0.1), (0.1, 0.0), (0.1, 1.0)])
def test_impossible_wishes(eps, delta):
    """An accuracy or probability out of range is refused by name."""
    with pytest.raises(ValueError, match=r"eps|delta"):
        learned().estimate_within({"a": 1.0}, eps, delta)
