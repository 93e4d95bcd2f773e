import pytest
from river import linear_model, preprocessing

from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.introspection import find_infinite_layer, find_shrinking_gradient
from iln_stream.learners.preprocessing.change_of_target import ChangeOfTarget
from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler
from iln_stream.learners.shrinking_gradient import ShrinkingGradient


class Mine(ShrinkingGradient):
    """A user's subclass counts."""


@pytest.mark.parametrize(
    "wrap",
    [
        lambda learner: learner,
        lambda learner: ChangeOfTarget(learner, "a"),
        lambda learner: preprocessing.TargetStandardScaler(WinsorisedScaler() | learner),
        lambda learner: ScaledTarget(preprocessing.StandardScaler() | ScaledTarget(learner)),
    ],
)
def test_the_learner_is_found_in_its_wrappers(wrap):
    """A learner at the end of pipelines and wrappers is found, by identity; Algorithm 1 also among
    the experts of a mixture."""
    learner = Mine(seed=1)
    assert find_shrinking_gradient(wrap(learner)) is learner
    assert find_infinite_layer(wrap(learner)) is None
    mixture = InfiniteLayerRegressor(seed=1)
    assert find_infinite_layer(wrap(mixture)) is mixture
    assert find_shrinking_gradient(wrap(mixture)) is mixture.first_order
    assert isinstance(mixture.first_order, ShrinkingGradient)


@pytest.mark.parametrize(
    "model", [None, object(), linear_model.LinearRegression(), InfiniteLayerRegressor("fast")]
)
def test_nothing_is_found_where_there_is_none(model):
    """Other models, and None, have no Algorithm 1 in them."""
    assert find_shrinking_gradient(model) is None
