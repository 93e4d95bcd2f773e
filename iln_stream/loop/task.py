"""Regression and classification: how to predict, and how to score a prediction."""

from collections.abc import Callable, Mapping, Sequence
from math import fsum, isfinite, log
from typing import Any, Protocol

from iln_stream.loop.baselines import (
    Baselines,
    ClassificationBaselines,
    RegressionBaselines,
    Trivial,
    TrivialClasses,
)
from iln_stream.loop.scores import ClassificationScores, RegressionScores, Scores
from iln_stream.loop.step import Prediction
from iln_stream.records import ClassEvent, ClassLabel, Event, Label, MalformedError
from iln_stream.reporting import FlagSpec

_MOST_EXACT = 2.0**53
"""Integers below it are different doubles."""


class Task(Protocol):
    """Defines how to predict, which labels are valid, and the scores."""

    name: str
    event_type: type[Event]
    label_type: type[Label]
    ready: type
    """Labels of exactly this type are in the learner's form: `label` would return them."""

    def predictor(self, learner: Any) -> Callable[[Mapping[Any, float]], Prediction]:
        """Return the function that predicts an event; `checked` takes what it returns."""

    def checked(self, y_pred: Any) -> Prediction:
        """Return the prediction; raise ArithmeticError if a number in it is not finite."""

    def label(self, y: Any) -> Any:
        """Return the label in the learner's form; raise MalformedError if it is not valid."""

    def loss(self, y_pred: Any, y: Any) -> float:
        """Return the loss of a prediction, for learners that do not report their own."""

    def scores(self, window: int, flags: Sequence[FlagSpec] = ()) -> Scores:
        """Return empty scores, over all events and over the last `window` labelled ones."""

    def baselines(self, window: int) -> Baselines:
        """Return scores of trivial predictors."""

    def trivial(self) -> Trivial | TrivialClasses:
        """Return trivial predictors, for events that wait for a label."""


LARGEST_LABEL = 1e30
"""Size from which a label is none: after labels that grew up to it, the default learners' scale is
back at ordinary ones within 500 events; after 1e40, it is not."""


class Regression:
    """Numbers, predicted by `predict_one`; the loss is half the squared error, in y's units."""

    name = "regression"
    event_type: type[Event] = Event
    label_type: type[Label] = Label
    ready: type = float

    def predictor(self, learner: Any) -> Callable[[Mapping[Any, float]], float]:
        """Return `predict_one`."""
        return learner.predict_one  # type: ignore[no-any-return]

    def checked(self, y_pred: Any) -> float:
        """Return the number; raise ArithmeticError if it is not finite."""
        y_pred = float(y_pred)
        if isfinite(y_pred):
            return y_pred  # type: ignore[no-any-return]
        raise ArithmeticError(f"it predicted {y_pred}")

    def label(self, y: Any) -> float:
        """Return the number; decoding already made it a float."""
        if type(y) is float:
            if -LARGEST_LABEL < y < LARGEST_LABEL:
                return y
            raise MalformedError(
                f"y: {y:g} is too large for a label: its size must be below {LARGEST_LABEL:g}; "
                "divide labels by a constant"
            )
        raise MalformedError(f"y: expected a number, got {y!r}")

    def loss(self, y_pred: float, y: float) -> float:
        """Return (y_pred - y)^2 / 2, infinity if it overflows (`**` would raise an error)."""
        error = y_pred - y
        return error * error / 2

    def scores(self, window: int, flags: Sequence[FlagSpec] = ()) -> Scores:
        """Return empty scores of loss and absolute error."""
        return RegressionScores(window, flags)

    def baselines(self, window: int) -> RegressionBaselines:
        """Return the running mean and the last value."""
        return RegressionBaselines(window)

    def trivial(self) -> Trivial:
        """Return the running mean and the last value."""
        return Trivial()


class Classification:
    """Classes, predicted as probabilities by `predict_proba_one`; the loss is the log loss.

    A class is a boolean, a string or a whole number. Before the first label no class is known, so
    the prediction is empty, and its loss is 0. Of a learner without probabilities, the predicted
    class has probability 1. If the learner knows `only_booleans`, false and true (or 0 and 1),
    another class is refused, because such a learner would learn it as one of the two.
    """

    name = "classification"
    event_type: type[Event] = ClassEvent
    label_type: type[Label] = ClassLabel
    least = 1e-15
    """Lower bound of a probability in the log loss."""

    def __init__(self, *, only_booleans: bool = False) -> None:
        self._only_booleans = only_booleans
        self.ready: type = bool if only_booleans else str

    def predictor(self, learner: Any) -> Callable[[Mapping[Any, float]], Mapping[Any, float]]:
        """Return `predict_proba_one`, or the class of a learner without probabilities."""
        predict_proba_one = learner.predict_proba_one

        def predict(x: Mapping[Any, float]) -> Mapping[Any, float]:
            try:
                return predict_proba_one(x)  # type: ignore[no-any-return]
            except NotImplementedError:  # so River says that a classifier has no probabilities
                y_pred = learner.predict_one(x)
                return {} if y_pred is None else {y_pred: 1.0}

        return predict

    def checked(self, y_pred: Any) -> Mapping[Any, float]:
        """Return the probabilities; raise ArithmeticError if one is not finite."""
        found = {c: float(p) for c, p in y_pred.items()}
        if all(map(isfinite, found.values())):
            return found
        raise ArithmeticError(f"it predicted {found}")

    def label(self, y: Any) -> Any:
        """Return the class; a whole number such as 1.0 becomes the integer 1."""
        if self._only_booleans:
            if y in (0, 1):  # booleans are numbers, too
                return bool(y)
            raise MalformedError(
                f"y: this learner knows two classes, false and true (or 0 and 1), got {y!r}; wrap "
                "it in river.multiclass.OneVsRestClassifier, or set "
                "learner = infinite-layer-classifier"
            )
        if isinstance(y, bool | str):
            return y
        if isinstance(y, float) and y.is_integer():
            if abs(y) < _MOST_EXACT:
                return int(y)
            raise MalformedError(
                f"y: the class {y!r} is too large for an exact number; send it as text"
            )
        raise MalformedError(
            f"y: expected a class (a boolean, a string or a whole number), got {y!r}: the learner "
            "is a classifier; to learn numbers, set learner = infinite-layer"
        )

    def loss(self, y_pred: Mapping[Any, float], y: Any) -> float:
        """Return -log of y's probability, at least 0; 0 before any class is known.

        A class that was not predicted has what the others leave of 1.
        """
        if not y_pred:
            return 0.0
        p = y_pred[y] if y in y_pred else round(1.0 - fsum(y_pred.values()), 12)
        return -log(min(max(p, self.least), 1.0))

    def scores(self, window: int, flags: Sequence[FlagSpec] = ()) -> Scores:
        """Return empty scores of log loss and accuracy."""
        return ClassificationScores(window, flags)

    def baselines(self, window: int) -> ClassificationBaselines:
        """Return the classes' frequencies and the majority class."""
        return ClassificationBaselines(window, self.least)

    def trivial(self) -> TrivialClasses:
        """Return the counts of classes."""
        return TrivialClasses()
