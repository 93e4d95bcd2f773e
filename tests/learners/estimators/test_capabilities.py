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
