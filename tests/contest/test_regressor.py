"""A contest of regressors is a River estimator."""

import pytest
from river import checks

from iln_stream.contest import ContestRegressor

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
