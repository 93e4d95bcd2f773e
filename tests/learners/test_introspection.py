import pytest
from river import linear_model, preprocessing

from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.introspection import find_infinite_layer, find_shrinking_gradient
from iln_stream.learners.preprocessing.change_of_target import ChangeOfTarget
from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler
from iln_stream.learners.shrinking_gradient import ShrinkingGradient

WRAPPERS = [
    lambda learner: learner,
    lambda learner: WinsorisedScaler() | learner,
    lambda learner: ScaledTarget(WinsorisedScaler() | learner),
    lambda learner: ChangeOfTarget(learner, "a"),
    lambda learner: preprocessing.TargetStandardScaler(WinsorisedScaler() | learner),
    lambda learner: ScaledTarget(preprocessing.StandardScaler() | ScaledTarget(learner)),
]
wrapped = pytest.mark.parametrize("wrap", WRAPPERS)


@wrapped
def test_the_learner_is_found_in_its_wrappers(wrap):
    """A learner at the end of pipelines and wrappers is found, by identity."""
    learner = ShrinkingGradient(seed=1)
    assert find_shrinking_gradient(wrap(learner)) is learner
    assert find_infinite_layer(wrap(learner)) is None


@wrapped
def test_the_first_order_expert_is_found(wrap):
    """Algorithm 1 is found among the experts of a mixture too."""
    learner = InfiniteLayerRegressor(seed=1)
    assert find_infinite_layer(wrap(learner)) is learner
    assert find_shrinking_gradient(wrap(learner)) is learner.first_order
    assert isinstance(learner.first_order, ShrinkingGradient)


@pytest.mark.parametrize(
    "model", [None, object(), linear_model.LinearRegression(), InfiniteLayerRegressor("fast")]
)
def test_nothing_is_found_where_there_is_none(model):
    """Other models, and None, have no Algorithm 1 in them."""
    assert find_shrinking_gradient(model) is None


def test_a_subclass_is_found():
    """A user's subclass counts."""

    class Mine(ShrinkingGradient):
        pass

    learner = Mine(seed=1)
    assert find_shrinking_gradient(WinsorisedScaler() | learner) is learner
