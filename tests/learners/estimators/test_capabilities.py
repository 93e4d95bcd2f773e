import pytest
from support.iterates import context

from iln_stream.features import GaussianFourier
from iln_stream.learners.estimators import (
    ESTIMATORS,
    AveragedIterate,
    EstimatesWithin,
    HasFiniteLayer,
)

WITHIN = {"sampled", "exact"}
NO_LAYER_OF_ITS_OWN = {"averaged"}  # its f_t and its average have one


@pytest.mark.parametrize("name", ESTIMATORS)
def test_abilities_of_each_estimator(name):
    """Each estimator has the abilities that its documentation promises, and no others."""
    f = ESTIMATORS[name]().start(context(GaussianFourier()))
    assert isinstance(f, EstimatesWithin) == (name in WITHIN)
    assert isinstance(f, HasFiniteLayer) == (name not in NO_LAYER_OF_ITS_OWN)
    if isinstance(f, AveragedIterate):
        for part in (f.current, f.average()):
            assert isinstance(part, EstimatesWithin)
            assert isinstance(part, HasFiniteLayer)


class Constant:
    """An iterate of a user's own that estimates 1."""

    alpha_l1, n_support, draws_wanted = 1.0, 0, None

    def noise(self, draws):
        return 0.0

    def estimate(self, x, t):
        return 1.0, 0.0, 1

    def append(self, x, alpha):
        """Learn nothing."""

    shrink = state = restore = append


class Accurate(Constant):
    def estimate_within(self, x, eps, delta, t):
        return self.estimate(x, t)


def test_a_users_iterate_has_an_ability_by_its_method():
    """An ability is the presence of its method; no base class is needed."""
    assert not isinstance(Constant(), EstimatesWithin)
    assert isinstance(Accurate(), EstimatesWithin)
    assert not isinstance(Accurate(), HasFiniteLayer)
