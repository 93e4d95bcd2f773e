"""Accuracies, the average and the finite layer of a `ShrinkingGradient`."""

import math
import tracemalloc

import numpy as np
import pytest

from iln_stream import theory
from iln_stream.features import DecisionStumps, GaussianFourier
from iln_stream.learners.shrinking_gradient import ShrinkingGradient

pytestmark = pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")


def learned(**parameters):
    model = ShrinkingGradient(DecisionStumps(), seed=1, **parameters)
    for t in range(60):
        model.learn_one({"a": 2 * math.sin(t)}, math.cos(t))
    return model


class TestWithin:
    def test_draws_are_those_of_the_bound(self):
        """The draws reported are those of the corrected bound, and memory stays bounded; f = 0 is
        known without a draw."""
        model = learned(estimator="averaged")
        q = DecisionStumps().q
        for eps in (1.0, 0.1):
            estimate = model.estimate_within({"a": 0.4}, eps, 0.01)
            assert estimate.draws == theory.draws_for(eps, 0.01, model.alpha_l1, q)
        assert ShrinkingGradient(seed=1).estimate_within({"a": 1.0}, 0.1, 0.1) == (0.0, 0.0, 0)
        eps = model.alpha_l1 / 700  # five million draws, 40 MB in any array of them
        tracemalloc.start()
        estimate = model.estimate_within({"a": 0.4}, eps, 0.01)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert estimate.draws > 5_000_000
        assert peak < 20e6

    def test_asking_changes_nothing(self):
        """It is a prediction: the run continues unaffected, and the same call returns the same."""
        asked, other = learned(), learned()
        answer = asked.estimate_within({"a": 0.4}, 0.2, 0.1)
        assert asked.estimate_within({"a": 0.4}, 0.2, 0.1) == answer
        for model in (asked, other):
            model.learn_one({"a": 0.4}, 1.0)
        assert asked.last_update == other.last_update

    def test_a_pool_promises_nothing(self):
        """The bound needs independent draws, so a pool raises, naming the estimator to use."""
        model = ShrinkingGradient(estimator="pool", seed=1)
        with pytest.raises(ValueError, match="estimator = 'pool' can't guarantee an accuracy"):
            model.estimate_within({"a": 1.0}, 0.1, 0.1)

    @pytest.mark.parametrize(("eps", "delta"), [(-1.0, 0.1), (0.1, 0.0), (0.1, 1.0)])
    def test_impossible_accuracies_are_refused(self, eps, delta):
        """An accuracy or probability out of range is refused by name."""
        with pytest.raises(ValueError, match=r"eps|delta"):
            learned().estimate_within({"a": 1.0}, eps, delta)


class TestAverage:
    def test_average_not_kept(self):
        """The error of a learner without an average names the estimator that keeps one."""
        for question in (
            lambda model: model.estimate_average({"a": 1.0}),
            lambda model: model.finite_layer(average=True),
        ):
            with pytest.raises(ValueError, match="keeps no average of all f_t: use 'averaged'"):
                question(ShrinkingGradient())


class TestFiniteLayer:
    def test_the_average_has_another_layer(self):
        """average=True gives f_S, with the same units for the same seed."""
        model = ShrinkingGradient(GaussianFourier(0.5), "averaged", draws=50, seed=1)
        for t in range(60):
            model.learn_one({"a": math.sin(t)}, 0.8)
        f_t, points = model.finite_layer(4096, seed=3)
        f_S, same_points = model.finite_layer(4096, seed=3, average=True)
        assert f_t.omega.tolist() == f_S.omega.tolist()
        assert points.tolist() == same_points.tolist()
        for layer, asked in ((f_t, model.estimate), (f_S, model.estimate_average)):
            value, standard_error, _ = asked({"a": 0.4})
            error = math.hypot(standard_error, layer.error_at(np.array([[0.4]])))
            assert abs(layer.evaluate(np.array([[0.4]]))[0] - value) < 5 * error
        assert abs(f_t.weights - f_S.weights).max() > 0

    def test_an_estimator_without_a_layer(self):
        """An estimator of a user's own need not have one: the error names it."""

        class Zero:
            alpha_l1, n_support, draws_wanted = 0.0, 0, None

            def start(self, given):
                return self

            def __repr__(self):
                return "Zero()"

        with pytest.raises(ValueError, match=r"estimator = Zero\(\) has no layer of units"):
            ShrinkingGradient(estimator=Zero()).finite_layer()


def test_input_names_are_in_column_order():
    """Names that come together are sorted; later ones follow."""
    model = ShrinkingGradient(draws=5, seed=1)
    model.learn_one({"b": 1.0, "a": 1.0}, 0.0)
    model.learn_one({"0": 1.0, "a": 1.0}, 0.0)
    assert model.input_names == ("a", "b", "0")
    assert model.iterate.support.rows(3).tolist() == [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
