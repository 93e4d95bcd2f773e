"""River's learners as contenders."""

from typing import Any

from river import base, dummy, linear_model, preprocessing, stats


def linear() -> base.Regressor:
    """A linear regression of scaled inputs."""
    return preprocessing.StandardScaler() | linear_model.LinearRegression()


def mean() -> base.Regressor:
    """The mean of all labels."""
    return dummy.StatisticRegressor(stats.Mean())


class Failing(base.Regressor):
    """Fails on events with a above a bound, and gives a reason."""

    def __init__(self, bound: float = 0.9, reason: str = "a is too large") -> None:
        self.bound = bound
        self.reason = reason

    def predict_one(self, x: dict[str, Any]) -> float:
        return 0.0

    def learn_one(self, x: dict[str, Any], y: float) -> None:
        if x["a"] > self.bound:
            raise ArithmeticError(self.reason)


class Constant(base.Regressor):
    """Predicts 5, and learns nothing."""

    def predict_one(self, x: dict[str, Any]) -> float:
        return 5.0

    def learn_one(self, x: dict[str, Any], y: float) -> None:
        pass
