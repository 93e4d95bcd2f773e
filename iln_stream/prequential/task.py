"""What is predicted: numbers or classes, and how either is scored."""

from collections.abc import Callable, Mapping, Sequence
from math import inf, isfinite, log
from typing import Any, Protocol

from iln_stream.events import ClassEvent, ClassLabel, Event, Label, MalformedError
from iln_stream.prequential.scores import ClassificationScores, RegressionScores, Scores
from iln_stream.prequential.step import Prediction
from iln_stream.reporting import FlagSpec


class Task(Protocol):
    """Owns how one predicts, what a valid label is, and the scores."""

    name: str
    event_type: type[Event]
    label_type: type[Label]

    def predictor(self, learner: Any) -> Callable[[Mapping[Any, float]], Prediction]:
        """Return the function that predicts, chosen once, as it is called on each event.

        It raises as `checked` does.
        """
        ...

    def checked(self, y_pred: Any) -> Prediction:
        """Return the prediction; raise ArithmeticError where it holds no finite number."""
        ...

    def label(self, y: Any) -> Any:
        """Return the label as the learner takes it; raise MalformedError if it is not valid."""
        ...

    def loss(self, y_pred: Any, y: Any) -> float:
        """Return the loss of a prediction, where the learner reports none of its own."""
        ...

    def scores(self, window: int, flags: Sequence[FlagSpec] = ()) -> Scores:
        """Return empty scores over all events and over the latest `window` of them."""
        ...


class Regression:
    """Numbers, predicted by `predict_one`; the loss is half the squared error in y's units."""

    name = "regression"
    event_type: type[Event] = Event
    label_type: type[Label] = Label

    def predictor(self, learner: Any) -> Callable[[Mapping[Any, float]], float]:
        """Return `predict_one`, made to raise where it returns no finite number."""
        predict_one, checked = learner.predict_one, self.checked

        def predict(x: Mapping[Any, float]) -> float:
            y_pred = float(predict_one(x))
            return y_pred if isfinite(y_pred) else checked(y_pred)

        return predict

    def checked(self, y_pred: Any) -> float:
        """Return the number; raise ArithmeticError if it is not finite."""
        y_pred = float(y_pred)
        if isfinite(y_pred):
            return y_pred  # type: ignore[no-any-return]
        raise ArithmeticError(f"it predicted {y_pred}")

    def label(self, y: Any) -> float:
        """Return the number; decoding has checked it."""
        if type(y) is float:
            return y
        raise MalformedError(f"y: expected a number, got {y!r}")

    def loss(self, y_pred: float, y: float) -> float:
        """Return (y_pred - y)^2 / 2; a product, as ** would raise where it overflows."""
        error = y_pred - y
        return error * error / 2

    def scores(self, window: int, flags: Sequence[FlagSpec] = ()) -> Scores:
        """Return empty scores: loss and absolute error."""
        return RegressionScores(window, flags)


class Classification:
    """Classes, predicted as probabilities by `predict_proba_one`; the loss is the log loss.

    A class is a boolean, a text or a whole number. Before the first label there are no classes, so
    the prediction is empty and its loss that of a fair guess among those known then: none.
    """

    name = "classification"
    event_type: type[Event] = ClassEvent
    label_type: type[Label] = ClassLabel
    least = 1e-15
    """Probabilities are raised to this before their logarithm is taken."""

    def predictor(self, learner: Any) -> Callable[[Mapping[Any, float]], Mapping[Any, float]]:
        """Return `predict_proba_one`, made to raise where a probability is no finite number."""
        predict_proba_one, checked = learner.predict_proba_one, self.checked

        def predict(x: Mapping[Any, float]) -> Mapping[Any, float]:
            return checked(predict_proba_one(x))

        return predict

    def checked(self, y_pred: Any) -> Mapping[Any, float]:
        """Return the probabilities; raise ArithmeticError if one is not finite."""
        y_pred = dict(y_pred)
        if all(map(isfinite, y_pred.values())):
            return y_pred  # type: ignore[no-any-return]
        raise ArithmeticError(f"it predicted {y_pred}")

    def label(self, y: Any) -> Any:
        """Return the class: 1.0, as JSON has it where 1 was meant, is 1."""
        if isinstance(y, bool | str):
            return y
        if isinstance(y, float) and y.is_integer():
            return int(y)
        raise MalformedError(
            f"y: expected a class (a boolean, a text or a whole number), got {y!r}"
        )

    def loss(self, y_pred: Mapping[Any, float], y: Any) -> float:
        """Return -log of the probability that was given to y; 0 before any class is known."""
        if not y_pred:
            return 0.0
        return -log(min(max(y_pred.get(y, 0.0), self.least), inf))

    def scores(self, window: int, flags: Sequence[FlagSpec] = ()) -> Scores:
        """Return empty scores: log loss and accuracy."""
        return ClassificationScores(window, flags)
