"""The counters of a run against a count by hand."""

import pytest

from iln_stream.features import UniformCoordinates
from iln_stream.learners.estimators import Estimate, Pool
from iln_stream.learners.metrics import SHRUNK
from iln_stream.learners.shrinking_gradient import ShrinkingGradient, Update

pytestmark = pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")


def test_every_counter_by_hand():
    """Two appends, a shrink between them, one target outside, one name too many: psi is 1."""
    model = ShrinkingGradient(
        UniformCoordinates(), norm_bound=0.01, step=0.5, draws=4, max_columns=1, seed=0
    )
    assert (model.last_update, model.flags) == (None, (SHRUNK,))
    model.learn_one({"a": 1.0}, 1.0)
    assert model.last_update == Update(Estimate(0.0, 0.0, 0), 1.0, False)
    assert model.report(99.0, 99.0) == (0.5, ())  # the loss of E, (E - y)^2 / 2
    model.learn_one({"a": 1.0, "b": 2.0}, -1.0)  # E >= 16 B
    assert model.last_update == Update(Estimate(0.5, 0.0, 4), -1.0, True)
    assert model.report(99.0, 99.0) == (1.125, ("shrunk",))
    assert (model.n_support, model.alpha_l1) == (1, 0.125)
    model.learn_one({"a": 1.0}, -3.0)  # E = 0.125 < 16 B
    assert (model.n_seen, model.n_shrinks, model.n_support) == (3, 1, 2)
    assert model.iterate.support.alpha.tolist() == [0.125, 0.5 * (-3 - 0.125)]
    assert model.alpha_l1 == 0.125 + 0.5 * 3.125
    assert (model.n_outside, model.n_overflowed) == (1, 1)
    assert model.noise == pytest.approx(0.125 / 2)  # q = 1, m = 4, before the append
    assert model.estimate_variance == 0.0  # all draws are equal


def test_before_the_first_event():
    """A new learner counts nothing and reports nothing."""
    model = ShrinkingGradient(seed=1)
    counts = (model.n_seen, model.n_shrinks, model.n_support, model.n_capped, model.n_outside)
    assert counts == (0,) * 5
    assert (model.alpha_l1, model.noise, model.estimate_variance) == (0.0, 0.0, 0.0)
    assert model.report(0.0, 1.0) == (None, ())
    assert (model.predict_one({"a": 3.0}), model.estimate({})) == (0.0, (0.0, 0.0, 0))


def test_estimate_variance_is_that_of_the_last_estimate():
    """The squared standard error of the E_t that was learned, not of a later prediction."""
    model = ShrinkingGradient(step=0.5, draws=30, seed=1)
    for a in (0.3, -0.8, 1.2):
        told = model.estimate({"a": a}).standard_error
        model.learn_one({"a": a}, 1.0)
    model.predict_one({"a": 5.0})
    assert model.estimate_variance == told**2 > 0.0


@pytest.mark.parametrize("estimator", ["sampled", Pool(16)])
def test_metrics_read_the_counters(estimator):
    """Each metric is read on demand, with the value of its property."""
    model = ShrinkingGradient(estimator=estimator, step=0.5, max_columns=1, seed=1)
    read = {metric.name: metric.read for metric in model.metrics()}
    for t in range(20):
        model.learn_one({"a": t / 20, "b": 1.0}, 0.5)
    expected = {"iln_alpha_l1": model.alpha_l1, "iln_inputs_overflowed_total": 20}
    assert {name: value() for name, value in read.items()} == expected
