import pytest

from iln_stream.features import UniformCoordinates
from iln_stream.learners.estimators import Estimate
from iln_stream.learners.shrinking_gradient import ShrinkingGradient, Update


def test_loss_is_half_the_squared_error():
    """The loss is that of Theorem 1, (E - y)^2 / 2."""
    assert Update(Estimate(0.5, 0.0, 1), -1.0, False).loss == pytest.approx(1.125)


def test_it_is_what_the_learner_did():
    """E_t, y_t and the branch taken, here known as psi is 1."""
    model = ShrinkingGradient(UniformCoordinates(), norm_bound=0.01, step=0.5, draws=3, seed=0)
    assert model.last_update is None
    model.learn_one({"a": 1.0}, 1.0)
    assert model.last_update == Update(Estimate(0.0, 0.0, 0), 1.0, False)
    model.learn_one({"a": 1.0}, -1.0)
    assert model.last_update == Update(Estimate(0.5, 0.0, 3), -1.0, True)
