"""What happens to one event: it is predicted, its label learned, the earlier prediction scored."""

import logging
import warnings
from collections.abc import Callable, Sequence
from math import isfinite
from time import perf_counter
from typing import Any

import numpy as np

from iln_stream.errors import IlnWarning, TokenError
from iln_stream.loop.pending import Pending
from iln_stream.loop.step import (
    NO_DETAILS,
    Details,
    EventWeights,
    LearnsInARow,
    LearnsLate,
    Prediction,
    Step,
    Token,
)
from iln_stream.loop.steps import Steps
from iln_stream.loop.task import LARGEST_LABEL, Task
from iln_stream.records import Example
from iln_stream.reporting import find_reporter
from iln_stream.streams import Record

log = logging.getLogger(__name__)


class Stepper:
    """Makes the steps of one learner.

    `details` computes what a prediction has beside its value; None: nothing. `weigh` weighs events
    for a learner whose `learn_one` takes `w`; None: it takes none.
    """

    def __init__(
        self,
        learner: Any,
        task: Task,
        details: Callable[[dict[str, float]], Details] | None = None,
        weigh: EventWeights | None = None,
    ) -> None:
        self.learner = learner
        self.task = task
        self._predict = task.predictor(learner)
        self._details = details
        self._weigh = weigh
        self._late_learner: LearnsLate | None = learner if isinstance(learner, LearnsLate) else None
        reporter = find_reporter(learner)
        self._report = (lambda *_: (None, ())) if reporter is None else reporter.report
        self.n_without_token = 0
        weighs_classes = weigh is not None and weigh.of_class
        one_by_one = details is not None or weighs_classes or task.ready is not float
        is_able = not one_by_one and _is_whole(type(learner))
        self._many: LearnsInARow | None = learner if is_able else None

    @property
    def takes_rows(self) -> bool:
        """Whether `steps` takes less time than `step` for each event."""
        return self._many is not None and self._many.learns_in_a_row

    def is_usual(self, example: Example) -> bool:
        """Return whether `steps` takes an event: it has a number as label, and no weight."""
        y = example.y
        return (
            type(y) is float
            and -LARGEST_LABEL < y < LARGEST_LABEL
            and example.weight is None
            and example.x is not None
        )

    def steps(self, events: Sequence[tuple[Record, Any]]) -> Steps:
        """Predict, learn and score the first of some usual events; there may be none such."""
        assert self._many is not None
        records, examples = zip(*events, strict=True)
        offset, _, origin, _, key = zip(*records, strict=True)
        x, y, event_id, time, _, series = zip(*examples, strict=True)
        started = perf_counter()
        y_pred, losses = self._many.learn_in_a_row(x, y)
        if not all(map(isfinite, y_pred)):
            raise ArithmeticError("it predicted a number that is not finite")
        ended, n = perf_counter(), len(y_pred)
        return Steps(
            origin[:n], offset[:n], event_id[:n], time[:n], x[:n], y[:n], y_pred, losses[:n],
            [()] * n, [False] * n, [(ended - started) / max(n, 1)] * n, [ended] * n, key[:n],
            [NO_DETAILS] * n, [None] * n, [()] * n, [1.0] * n, series[:n],
        )  # fmt: skip

    @property
    def takes_weights(self) -> bool:
        """Whether the learner takes weights."""
        return self._weigh is not None

    def step(self, record: Record, example: Example, x: dict[str, float]) -> Step:
        """Predict an event and, if it has a label, learn it and score the prediction."""
        y, task = example.y, self.task
        if y is not None and (type(y) is not task.ready or _is_large(y)):
            y = task.label(y)
        started = perf_counter()
        y_pred = self._predict(x)
        if type(y_pred) is not float or not isfinite(y_pred):
            y_pred = task.checked(y_pred)
        details = NO_DETAILS if self._details is None else self._details(x)
        loss: float | None = None
        flags: tuple[str, ...] = ()
        weight = 1.0
        if y is not None:
            if self._weigh is None or (example.weight is None and not self._weigh.of_class):
                self.learner.learn_one(x, y)
            else:
                weight = self._weigh(y, example.weight)
                self.learner.learn_one(x, y, w=weight)
            loss, flags = self._score(y_pred, y)
        ended = perf_counter()
        return Step(
            record.origin, record.offset, example.id, example.time, x, y, y_pred,
            loss, flags, False, ended - started, ended, record.key, details, None, (), weight,
            example.series,
        )  # fmt: skip

    def predict(
        self, record: Record, example: Example, x: dict[str, float]
    ) -> tuple[Step, Token | None]:
        """Predict an event whose label will come; also return a token if the learner makes them."""
        started = perf_counter()
        token: Token | None = None
        if self._late_learner is None:
            y_pred = self._predict(x)
        else:
            y_pred, token = self._late_learner.predict_token(x)
            if not isinstance(token, np.ndarray):  # of a user's learner: numbers in any form
                token = np.ravel(np.asarray(token, float))
        y_pred = self.task.checked(y_pred)
        details = NO_DETAILS if self._details is None else self._details(x)
        ended = perf_counter()
        step = Step(
            record.origin, record.offset, example.id, example.time, x, None, y_pred,
            None, (), False, ended - started, ended, record.key, details, series=example.series,
        )  # fmt: skip
        return step, token

    def learn_late(
        self, record: Record, event_id: str | None, event: Pending, label: Example
    ) -> Step:
        """Learn the label of an event that was predicted before, and score that prediction."""
        y = self.task.label(label.y)
        started = perf_counter()
        weight = {}
        if self._weigh is not None:
            own = event.weight if label.weight is None else label.weight
            weight = self._weigh.keywords(y, own)
        if event.token is None or self._late_learner is None:
            self.learner.learn_one(event.x, y, **weight)
        else:
            try:
                self._late_learner.learn_token(event.x, event.token, y, **weight)
            except TokenError:  # the event waits since a release whose learner had other experts
                self.learner.learn_one(event.x, y, **weight)
                self._count_without_token()
        loss, flags = self._score(event.y_pred, y)
        ended = perf_counter()
        unknown = event.time is None or label.time is None
        return Step(
            record.origin, record.offset, event_id, event.time, event.x, y, event.y_pred,
            loss, flags, True, ended - started, ended, record.key,
            Details(event.intervals, quantiles=event.quantiles),
            None if unknown else label.time - event.time,  # type: ignore[operator]
            event.baselines,
            weight.get("w", 1.0),
            label.series,
        )  # fmt: skip

    def _count_without_token(self) -> None:
        self.n_without_token += 1
        if self.n_without_token == 1:
            warnings.warn(
                "an event waits for its label since a release, or a learner, that computed other "
                "things for it: its label, and those of others like it, are learned as if the "
                "events came with them",
                IlnWarning,
                stacklevel=2,
            )

    def _score(self, y_pred: Prediction, y: Any) -> tuple[float, tuple[str, ...]]:
        """Return loss and flags of the label just learned; the loss is the task's by default."""
        loss: float | None = None
        flags: tuple[str, ...] = ()
        try:
            loss, flags = self._report(y_pred, y)
        except Exception as error:
            # The event was learned, so it must not become a dead letter.
            log.warning("the learner's report failed: %r", error)
        return self.task.loss(y_pred, y) if loss is None else loss, flags


def _is_whole(kind: type) -> bool:
    """Return whether one class defines all of these.

    Else `learn_in_a_row` would pass over a subclass's own `learn_one`.
    """
    names = ("learns_in_a_row", "learn_in_a_row", "predict_one", "learn_one", "report")
    by = {next((each for each in kind.__mro__ if name in vars(each)), None) for name in names}
    return len(by) == 1 and by != {None}


def _is_large(y: Any) -> bool:
    """Return whether a label is a number that `Task.label` refuses."""
    return type(y) is float and not -LARGEST_LABEL < y < LARGEST_LABEL
