"""River's learners that challenge ours in the demo, by import path."""

from typing import Any

from river import linear_model, preprocessing, tree


def linear() -> Any:
    """Return a linear regression of scaled inputs and target."""
    return scaled(linear_model.LinearRegression())


def hoeffding_tree() -> Any:
    """Return a tree that adapts to changes."""
    return scaled(tree.HoeffdingAdaptiveTreeRegressor(seed=1))


def scaled(regressor: Any) -> Any:
    """Return a learner of scaled inputs and target."""
    return preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(regressor)
