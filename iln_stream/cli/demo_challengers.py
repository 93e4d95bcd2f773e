"""River's learners that challenge ours in the demo, by import path."""

from typing import Any

from river import linear_model, preprocessing, tree


def linear() -> Any:
    """Return a linear regression of scaled inputs and target."""
    return _scaled(linear_model.LinearRegression())


def hoeffding_tree() -> Any:
    """Return a tree that adapts to changes."""
    return _scaled(tree.HoeffdingAdaptiveTreeRegressor(seed=1))


def _scaled(regressor: Any) -> Any:
    return preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(regressor)
