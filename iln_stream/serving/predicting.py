"""Predictions of a published learner, as answers."""

import asyncio
import json
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from math import inf, isfinite
from time import perf_counter, time
from typing import Any, NamedTuple, TypeAlias

from iln_stream.errors import StateError
from iln_stream.records import MalformedError, one_hot
from iln_stream.records.decoding import without_nulls
from iln_stream.records.fields import RECORDS_KEY
from iln_stream.records.messages import Inputs
from iln_stream.records.time_inputs import SINCE_LAST, names_of
from iln_stream.records.values import as_text
from iln_stream.serving.gate import HttpError, retry
from iln_stream.snapshots.follower import Published

SLICE_SECONDS = 0.001
"""Time that predictions may take on the event loop before others get their turn."""

SLOW_SECONDS = 0.002
"""A learner that takes longer for an event predicts on a thread."""

_NAMED = 4
"""Names of inputs in an error."""

_MEASURED = 4
"""Predictions of which the shortest counts."""


class OfRecord(NamedTuple):
    """An event to predict, as a record of the run, in place of its inputs."""

    fields: Mapping[str, Any]


ToPredict: TypeAlias = Inputs | OfRecord

_MOST_UNKNOWN = 20
"""Names of unknown inputs in an answer."""


class Predictor:
    """Predicts with one published version.

    A prediction of the learners of this package takes some 10 to 300 us, less than a thread would
    cost, so it is made on the event loop; a batch lets other requests pass after each millisecond.
    A learner that takes longer moves to a thread for good: no two predictions of one learner run at
    the same time. Intervals contain the label with probability `level`. `slow` runs predictions of
    slow learners, one at a time. Once `stop` is set, no further event is predicted.
    """

    def __init__(
        self, published: Published, level: float, slow: Executor, stop: threading.Event
    ) -> None:
        self.published = published
        learner = published.learner
        self._learner = learner
        self._level = level
        self._slow = slow
        self._stop = stop
        self._interval = getattr(learner, "predict_interval", None)
        self._quantiles = getattr(learner, "predict_quantiles_one", None)
        is_classifier = published.header.task == "classification"
        self._answer = self._of_class if is_classifier else self._of_number
        self._known: set[str] = set()
        self._shaped = without_nulls if published.as_texts else one_hot
        self.seconds = 0.0
        self._shortest = inf
        self._n_measured = 0

    @property
    def age(self) -> float:
        """Seconds since the version was published."""
        return max(0.0, time() - self.published.header.published_at)

    def inputs(self) -> list[str] | None:
        """Return the names of the inputs that the learner has learned, the most relevant first.

        None if the learner does not report them.
        """
        try:
            return [*map(str, self._learner.inputs)]
        except AttributeError:
            return None

    def warm(self) -> None:
        """Predict an event without inputs, which compiles or loads what a prediction needs.

        Then measure how long a prediction takes. Predicting changes no state.
        """
        if self.published.header.n_learned and (names := self.inputs()):
            self._known = {*names, *(name.partition("=")[0] for name in names)}
            self._known.add(getattr(self._learner, "key", ""))
        for _ in range(_MEASURED):
            begun = perf_counter()
            try:
                self._answer({})
            except Exception:
                # A pipeline that needs certain inputs; `predict` reports it to who leaves them out.
                return
            self._measure(perf_counter() - begun)

    async def predict(
        self, events: Sequence[ToPredict], times: Sequence[float | None] = ()
    ) -> list[dict[str, Any]]:
        """Return the answer to each event.

        An event is its inputs, or its record; its time, in POSIX seconds, is for aggregates of
        earlier events; None: now.

        Raises
        ------
        HttpError
            When the learner can't predict an event.

        """
        times = times or [None] * len(events)
        answers: list[dict[str, Any]] = []
        while self.seconds <= SLOW_SECONDS:
            answers += self._slice(events, times, len(answers), SLICE_SECONDS)
            if len(answers) == len(events):
                return answers
            await asyncio.sleep(0)
        loop = asyncio.get_running_loop()
        return answers + await loop.run_in_executor(
            self._slow, self._slice, events, times, len(answers), inf
        )

    def _slice(
        self, events: Sequence[ToPredict], times: Sequence[float | None], begin: int, seconds: float
    ) -> list[dict[str, Any]]:
        """Return the answers to the events from `begin` on, as many as fit into the time."""
        answers: list[dict[str, Any]] = []
        until = perf_counter() + seconds
        while begin + len(answers) < len(events) and perf_counter() < until:
            if self._stop.is_set():
                raise HttpError(503, "stopping", "the server stops; try again", retry(1.0))
            index = begin + len(answers)
            answers.append(self._timed(events[index], times[index], index))
        return answers

    def _with_aggregates(self, x: Inputs, at: float | None, index: int) -> Inputs:
        """Return inputs with those that a run would make of earlier events of the keys in them."""
        no_inputs, made = self.published.no_inputs, self.published.aggregates
        own = {name: value for name, value in x.items() if name not in no_inputs}
        if made is None:
            return own
        present = {name: value for name, value in x.items() if value is not None}
        texts = {name: as_text(present[name]) for name in made.texts & present.keys()}
        numbers = {}
        for name in made.numbers & present.keys():
            if isinstance(value := present[name], str):
                wrong = f"{name}: aggregates need a number, got {value!r:.60}"
                raise HttpError(422, "malformed", f"events.{index}.x.{wrong}")
            numbers[name] = float(value)
        try:
            return {**made(texts, numbers, time() if at is None else at), **own}
        except StateError as error:
            raise HttpError(503, "keys", f"events.{index}: {error}", retry(1.0)) from error

    def _of_record(self, fields: Mapping[str, Any], at: float | None, index: int) -> dict[str, Any]:
        """Return the inputs that the run would make of a record."""
        decode, earlier = self.published.decode, list(self.published.series_inputs)
        where = f"events.{index}.record"
        if decode is None:
            no_fields = "the run has no settings of fields; send the inputs as x"
            raise HttpError(409, "records", f"{where}: {no_fields}")
        if SINCE_LAST in decode.mapping.time_features:
            earlier += names_of(SINCE_LAST)
        if earlier:
            raise HttpError(409, "records", f"{where}: {_without_earlier(earlier)}")
        own, key = dict(fields), None
        if RECORDS_KEY in self.published.no_inputs:  # only aggregates need it
            key = own.pop(RECORDS_KEY, None)
        try:
            x = decode(own, time() if at is None else at, key).x
        except StateError as error:
            raise HttpError(503, "keys", f"events.{index}: {error}", retry(1.0)) from error
        if x is None:
            raise HttpError(422, "malformed", f"{where}: it has no inputs")
        return x

    def _of_inputs(self, x: Inputs, at: float | None, index: int) -> dict[str, Any]:
        x = self._with_aggregates(x, at, index)
        series = self.published.series_inputs
        if series and not any(name in x for name in series):
            raise HttpError(422, "malformed", f"events.{index}.x: {_without_earlier(series)}")
        return self._shaped(x)

    def _unknown(self, x: Mapping[str, Any]) -> list[str]:
        """Return the inputs that the learner has not learned, as misspelt ones are."""
        known = self._known
        found = [n for n in x if n not in known and n.partition("=")[0] not in known]
        return found[:_MOST_UNKNOWN]

    def _timed(self, event: ToPredict, at: float | None, index: int) -> dict[str, Any]:
        begun = perf_counter()
        try:
            if isinstance(event, OfRecord):
                x = self._of_record(event.fields, at, index)
            else:
                x = self._of_inputs(event, at, index)
            answer = self._answer(x)
        except HttpError:
            raise
        except MalformedError as error:
            raise HttpError(422, "malformed", f"events.{index}.{error}") from None
        except Exception as error:
            raise HttpError(
                422,
                "not predicted",
                f"events.{index}.x: the learner can't predict it: {type(error).__name__}: {error}",
            ) from error
        self._measure(perf_counter() - begun)
        if self._known and (unknown := self._unknown(x)):
            answer["unknown_inputs"] = unknown
        return answer

    def _measure(self, seconds: float) -> None:
        """Note the time of a prediction.

        The shortest of several counts: in the others, another process had the processor. Once slow,
        always slow: a prediction on the thread may be running.
        """
        self._shortest = min(self._shortest, seconds)
        self._n_measured += 1
        if self._n_measured % _MEASURED == 0:
            if self.seconds <= SLOW_SECONDS:
                self.seconds = self._shortest
            self._shortest = inf

    def _of_number(self, x: Mapping[str, float]) -> dict[str, Any]:
        answer: dict[str, Any] = {"y_pred": _finite(self._learner.predict_one(x))}
        if self._interval is not None:
            lower, upper = self._interval(x, self._level)
            ends = {"lower": _finite(lower), "upper": _finite(upper)}
            answer["interval"] = {**ends, "level": self._level}
        if self._quantiles is not None:
            found = self._quantiles(x).items()
            answer["quantiles"] = {repr(level): _finite(value) for level, value in found}
        return answer

    def _of_class(self, x: Mapping[str, float]) -> dict[str, Any]:
        probabilities = {y: _finite(p) for y, p in self._probabilities(x).items()}
        best = max(probabilities, key=probabilities.__getitem__, default=None)
        return {"y_pred": best, "probabilities": _by_name(probabilities)}

    def _probabilities(self, x: Mapping[str, float]) -> Mapping[Any, float]:
        try:
            return self._learner.predict_proba_one(x)  # type: ignore[no-any-return]
        except NotImplementedError:  # so River says that a classifier has no probabilities
            y_pred = self._learner.predict_one(x)
            return {} if y_pred is None else {y_pred: 1.0}


def _without_earlier(names: Sequence[str]) -> str:
    """Return what is wrong if inputs lack all that a run makes of earlier records."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return (
        f"it has none of the inputs that the learner gets of earlier records "
        f"({', '.join(names[:_NAMED])}{more}), and this server does not read them from the log: "
        "send them, null where a value is missing; or read the forecast of the log's newest record "
        "where the learner publishes it (its setting predictions)"
    )


def _finite(value: Any) -> float:
    value = float(value)
    if not isfinite(value):
        raise ArithmeticError(f"it predicted {value}")
    return value  # type: ignore[no-any-return]


def _by_name(probabilities: Mapping[Any, float]) -> dict[str, float]:
    """Return the probabilities by names that JSON allows as keys: `true`, `3`, `cat`.

    If a text and another class have the same name, such as "3" and 3, texts are quoted.
    """
    named = {_name(y): p for y, p in probabilities.items()}
    if len(named) < len(probabilities):
        named = {json.dumps(y): p for y, p in probabilities.items()}
    return named


def _name(y: Any) -> str:
    return y if isinstance(y, str) else json.dumps(y)
