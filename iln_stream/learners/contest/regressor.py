"""A contest of regressors."""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from river import base, compose

from iln_stream.learners.contest.contender import OnFailure
from iln_stream.learners.contest.contest import Contest, Promotion
from iln_stream.learners.contest.evidence import BoundedError
from iln_stream.learners.contest.mixing import RegressionMixing
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.restoring import restorable
from iln_stream.state import StateDict


@restorable
class ContestRegressor(Contest[float], base.Regressor):
    """Several regressors that learn the same events; one of them, the champion, predicts.

    Every contender predicts every event, is scored, and only then learns the label. The champion's
    predictions are bit-identical to those of its learner alone. The other contenders are
    challengers, which can't disturb the champion: it learns each event first, and an error of a
    challenger affects only that challenger.

    A challenger becomes champion by `promote`, or, with `promotion="evidence"`, at the event at
    which a confidence sequence shows that it is better: see `Evidence`. The probability that any
    such promotion is false, over the whole stream, is at most `promotion_error`. After a promotion
    the old champion is a challenger, and all comparisons start over.

    An error is a failure, and so is a prediction that is not finite. The event is then left out of
    that challenger's scores, and counts as the worst loss in its comparison.

    Parameters
    ----------
    contenders
        Learners by name; the first is the champion. They are used, not copied.
    promotion
        "never": by `promote` only. "evidence": also by a confidence sequence.
    promotion_error
        Probability of a false promotion by evidence, in (0, 1).
    mixture
        Whether to add a contender, `mixture`: the mean of all others, weighted by the mixing rule
        of `InfiniteLayerRegressor`, ML-Poly.
    on_failure
        What happens when a challenger can't predict or learn an event; one policy for all, or by
        name. "skip": it continues with the next event. "restart": an untrained clone takes its
        place. "stop": `ContenderError` is raised. After 100 failures in a row a challenger is
        excluded; at the next promotion an untrained clone joins again. The champion's own errors
        are raised, whatever its policy.
    window
        Scored events in the windowed errors.

    Examples
    --------
    >>> from river import datasets, linear_model, preprocessing
    >>> from iln_stream import ContestRegressor, InfiniteLayerRegressor
    >>> model = ContestRegressor(
    ...     {
    ...         "linear": preprocessing.StandardScaler() | linear_model.LinearRegression(),
    ...         "infinite-layer": InfiniteLayerRegressor("fast", seed=1),
    ...     },
    ...     promotion="evidence",
    ... )
    >>> for x, y in datasets.TrumpApproval():
    ...     y_pred = model.predict_one(x)
    ...     model.learn_one(x, y)
    >>> model.champion, model.n_promotions
    ('infinite-layer', {'command': 0, 'evidence': 1})
    >>> for each in model.standings():
    ...     print(f"{each.name}: {each.status}, MAE {each.windowed_error:.2f}")
    linear: challenger, MAE ...
    infinite-layer: champion, MAE ...

    """

    def __init__(
        self,
        contenders: Mapping[str, base.Regressor],
        promotion: Promotion = "never",
        promotion_error: float = 0.05,
        mixture: bool = False,
        on_failure: OnFailure | Mapping[str, OnFailure] = "skip",
        window: int = 1000,
    ) -> None:
        super().__init__(contenders, promotion, promotion_error, mixture, on_failure, window)
        for name, learner in contenders.items():
            last = learner._last_step if isinstance(learner, compose.Pipeline) else learner
            if isinstance(last, base.Classifier) and not isinstance(last, base.Regressor):
                raise ValueError(
                    f"{name} is a classifier: classifiers compete in ContestClassifier"
                )
        self._bounded = BoundedError()

    def predict_one(self, x: Mapping[Any, float]) -> float:
        """Return the champion's prediction for x."""
        with self._turn:
            return self._predicted(x)  # type: ignore[no-any-return]

    def _raw(self, learner: Any, x: Any) -> Any:
        return learner.predict_one(x)

    def _checked(self, prediction: Any) -> float:
        number = float(prediction)
        if isfinite(number):
            return number
        raise ArithmeticError(f"it predicted {number}")

    def _checked_label(self, y: Any) -> float:
        number = float(y)
        if isfinite(number):
            return number
        raise ValueError(f"y = {y!r} must be a finite number")

    def _judge(self, seen: Sequence[Any], y: float) -> list[float | None]:
        bounded = self._bounded
        losses: list[float | None] = []
        for each, prediction in zip(self._contenders, seen, strict=True):
            if prediction.__class__ is float:
                error = prediction - y
                each.scores.add(abs(error), error * error / 2)
                losses.append(bounded(error))
            else:
                losses.append(None if prediction is None else 1.0)
        champions = seen[self._at]
        if champions.__class__ is float:
            bounded.learn(champions - y)
        return losses

    def _new_mixing(self, n: int) -> RegressionMixing:
        return RegressionMixing(n)

    def _packed(self, prediction: float) -> list[float]:
        return [prediction]

    def _unpacked(self, numbers: list[float]) -> float:
        return numbers[0]

    def _task_state(self) -> StateDict:
        return {"bounded": self._bounded.state()}

    def _restore_task(self, state: StateDict) -> None:
        self._bounded.restore(state["bounded"])

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {
            "contenders": {
                "first": InfiniteLayerRegressor("fast", seed=1),
                "second": InfiniteLayerRegressor("fast", seed=2),
            },
            "promotion": "evidence",
            "mixture": True,
        }
