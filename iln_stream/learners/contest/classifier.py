"""A contest of classifiers."""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, log
from typing import Any

import numpy as np
from river import base

from iln_stream.errors import StateError
from iln_stream.learners.contest.contender import OnFailure
from iln_stream.learners.contest.contest import Contest, Promotion
from iln_stream.learners.contest.evidence import brier_loss
from iln_stream.learners.contest.mixing import ClassificationMixing
from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.restoring import restorable
from iln_stream.state import StateDict, decode_name, encode_name

KEPT = 32
"""Most classes whose probabilities a token has of each contender."""

_LEAST = 1e-15
"""Lower bound of a probability in the log loss."""


@restorable
class ContestClassifier(Contest[Mapping[Any, float]], base.Classifier):
    """Several classifiers that learn the same events; one of them, the champion, predicts.

    `ContestRegressor` describes contests. The error is 0 or 1, the loss is the log loss, and
    contenders are compared by half the Brier score. If a classifier has no probabilities, its
    predicted class has probability 1. A binary classifier fails on labels other than false and true
    (or 0 and 1).

    Parameters
    ----------
    contenders, promotion, promotion_error, mixture, on_failure, window
        As in `ContestRegressor`; the mixture is weighted by the rule of `InfiniteLayerClassifier`.

    Examples
    --------
    >>> from river import datasets, linear_model, naive_bayes, preprocessing
    >>> from iln_stream.learners.contest import ContestClassifier
    >>> model = ContestClassifier(
    ...     {
    ...         "bayes": naive_bayes.GaussianNB(),
    ...         "logistic": preprocessing.StandardScaler() | linear_model.LogisticRegression(),
    ...     },
    ...     mixture=True,
    ... )
    >>> for x, y in datasets.Phishing():
    ...     p_pred = model.predict_proba_one(x)
    ...     model.learn_one(x, y)
    >>> model.promote("mixture")
    >>> model.champion
    'mixture'

    """

    def __init__(
        self,
        contenders: Mapping[str, base.Classifier],
        promotion: Promotion = "never",
        promotion_error: float = 0.05,
        mixture: bool = False,
        on_failure: OnFailure | Mapping[str, OnFailure] = "skip",
        window: int = 1000,
    ) -> None:
        super().__init__(contenders, promotion, promotion_error, mixture, on_failure, window)
        self._classes: dict[Any, int] = {}  # of labels, in the order in which they came

    @property
    def _multiclass(self) -> bool:
        """Whether the first contender takes any classes: its labels are the contest's."""
        return bool(self._contenders[0].learner._multiclass)

    def predict_proba_one(self, x: Mapping[Any, float]) -> Mapping[Any, float]:
        """Return the champion's probabilities for x."""
        with self._turn:
            return self._predicted(x)  # type: ignore[no-any-return]

    def _raw(self, learner: Any, x: Any) -> Any:
        try:
            return learner.predict_proba_one(x)
        except NotImplementedError:  # so River says that a classifier has no probabilities
            y_pred = learner.predict_one(x)
            return {} if y_pred is None else {y_pred: 1.0}

    def _checked(self, prediction: Any) -> Mapping[Any, float]:
        total = sum(prediction.values())
        if not isfinite(total):
            raise ArithmeticError(f"it predicted {prediction}")
        if total.__class__ is float and prediction.__class__ is dict:
            return prediction
        return {label: float(p) for label, p in prediction.items()}

    def _checked_label(self, y: Any) -> Any:
        y = y.item() if isinstance(y, np.generic) else y
        if y not in self._classes:
            try:
                encode_name(y)
            except StateError as error:
                raise ValueError(f"y = {y!r}: a state can't store it as a class") from error
        return y

    def _judge(self, seen: Sequence[Any], y: Any) -> list[float | None]:
        if y not in self._classes:
            self._classes[y] = len(self._classes)
        losses: list[float | None] = []
        for each, found in zip(self._contenders, seen, strict=True):
            if found.__class__ is dict:
                p = found.get(y, 0.0)
                hit = found and p == max(found.values()) and max(found, key=found.__getitem__) == y
                loss = -log(min(max(p, _LEAST), 1.0)) if found else 0.0
                each.scores.add(0.0 if hit else 1.0, loss)
                losses.append(max(brier_loss(found, y), 0.0))
            else:
                losses.append(None if found is None else 1.0)
        return losses

    def _new_mixing(self, n: int) -> ClassificationMixing:
        return ClassificationMixing(n)

    def _packed(self, prediction: Mapping[Any, float]) -> list[float]:
        """Return the probability of the other classes, then indices and probabilities of classes.

        At most `KEPT` classes are kept, and only those that were labels.
        """
        known = [(c, p) for c, p in prediction.items() if c in self._classes]
        if len(known) > KEPT:
            known = sorted(known, key=lambda each: -each[1])[:KEPT]
        rest = sum(prediction.values()) - sum(p for _, p in known)
        numbers = [max(rest, 0.0) if len(known) < len(prediction) else 0.0]
        for label, p in known:
            numbers += (float(self._classes[label]), p)
        return numbers

    def _unpacked(self, numbers: list[float]) -> Mapping[Any, float]:
        """Return the probabilities; other classes have equal shares of theirs."""
        labels, rest = list(self._classes), numbers[0]
        found = {labels[int(k)]: p for k, p in zip(numbers[1::2], numbers[2::2], strict=True)}
        if rest > 0.0 and (others := [label for label in labels if label not in found]):
            found |= dict.fromkeys(others, rest / len(others))
        return found

    def _task_state(self) -> StateDict:
        return {"classes": [encode_name(label) for label in self._classes]}

    def _restore_task(self, state: StateDict) -> None:
        self._classes = {decode_name(text): k for k, text in enumerate(state["classes"])}

    def _unit_test_skips(self) -> set[str]:
        return {check for each in self.contenders.values() for check in each._unit_test_skips()}

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {
            "contenders": {
                "first": InfiniteLayerClassifier(seed=1),
                "second": InfiniteLayerClassifier(seed=2),
            },
            "promotion": "evidence",
            "mixture": True,
        }
