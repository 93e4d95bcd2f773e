"""A contest of regressors is a River estimator."""

import pytest
from river import checks, linear_model, preprocessing

from iln_stream.learners.contest import ContestRegressor

pytestmark = pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")


@pytest.mark.parametrize(
    ("model", "check"),
    [
        pytest.param(model, check, id=f"{check.__name__}-{n}")
        for model in (ContestRegressor(**p) for p in ContestRegressor._unit_test_params())
        for n, check in enumerate(checks.yield_checks(model))
    ],
)
def test_rivers_checks(model, check):
    """A contest works wherever a River estimator does."""
    check(model.clone())


def test_learners_that_can_not_compete():
    """A classifier's classes are no errors of numbers, and one learner twice would learn twice."""
    learner = linear_model.LinearRegression()
    classifier = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    with pytest.raises(ValueError, match="c is a classifier"):
        ContestRegressor({"a": learner, "c": classifier})
    with pytest.raises(ValueError, match="one learner twice"):
        ContestRegressor({"a": learner, "b": learner})
    with pytest.raises(ValueError, match="must be a mapping"):
        ContestRegressor([learner])
