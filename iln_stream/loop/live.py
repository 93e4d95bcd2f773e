"""What a learner is doing now, as JSON for the live page: `GET /live`."""

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import isfinite
from time import time
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import parse_qs
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import numpy as np

from iln_stream._version import __version__
from iln_stream.loop.metrics import ModelMetrics
from iln_stream.loop.slices import ErrorSlices
from iln_stream.loop.step import MOST_IN_A_ROW, Listener, Step
from iln_stream.loop.steps import LatestSteps
from iln_stream.records import Command, DeadLetter
from iln_stream.reporting import MetricSpec
from iln_stream.state import StateDict

LONGEST = 200
"""Characters of a text."""

MOST_ENTRIES = 100
"""Values of a label that one metric shows."""


def cut(text: object) -> str:
    """Return a text of at most 200 characters."""
    whole = str(text)
    return whole if len(whole) <= LONGEST else f"{whole[: LONGEST - 1]}…"


def number(value: Any) -> float | None:
    """Return a finite number, else None."""
    if value is None:
        return None
    value = float(value)
    return value if isfinite(value) else None


def plain(value: Any) -> Any:
    """Return a JSON value: numbers that are not finite become None, other objects short texts.

    Examples
    --------
    >>> from iln_stream.loop.live import plain
    >>> plain(float("inf")), plain(True), plain((1, 2.5)), plain({"a": None})
    (None, True, [1, 2.5], {'a': None})

    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return number(value)
    if isinstance(value, Mapping):
        return {cut(key): plain(each) for key, each in list(value.items())[:MOST_ENTRIES]}
    if isinstance(value, tuple | list):
        return [plain(each) for each in value[:MOST_ENTRIES]]
    return cut(value)


def row_of_step(serial: int, step: Step, series: Sequence[str] = ()) -> dict[str, Any]:
    """Return a step as JSON values; of probabilities, those of the most probable class.

    `series` are the fields that name its series.
    """
    y_pred, p = step.y_pred, None
    if isinstance(y_pred, Mapping):
        probabilities = y_pred
        y_pred = max(probabilities, key=probabilities.__getitem__) if probabilities else None
        p = number(probabilities[y_pred]) if probabilities else None
    details = step.details
    return {
        "serial": serial,
        "stream": cut(step.origin.stream),
        "partition": step.origin.partition,
        "offset": step.offset,
        "id": None if step.event_id is None else cut(step.event_id),
        "time": number(step.time),
        "series": [  # their values are categories
            cut(str(name)[len(field) + 1 :])
            for field in series
            for name in step.x
            if str(name).startswith(f"{field}=")
        ],
        "y": plain(step.y),
        "y_pred": plain(y_pred),
        "p": p,
        "interval": [number(bound) for bound in details.intervals[0]]
        if details.intervals
        else None,
        "loss": number(step.loss),
        "flags": list(step.flags),
        "late": step.late,
        "delay": number(step.delay),
        "contender": plain(getattr(details, "contender", None)),
    }


def row_of_letter(serial: int, letter: DeadLetter) -> dict[str, Any]:
    """Return a dead letter as JSON values; `serial` is that of the step before it."""
    return {
        "serial": serial,
        "stream": cut(letter.stream),
        "partition": letter.partition,
        "offset": letter.offset,
        "reason": cut(letter.reason),
        "payload": cut(letter.payload),
    }


def rows_of_standings(
    standings: Iterable[Any], versions: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the contenders of a contest as JSON values, each with the version of its model."""
    return [
        plain({**standing._asdict(), "version": versions.get(standing.name)})
        | {"last_failure": standing.last_failure}  # whole: it says what to mend
        for standing in standings
    ]


MOST_POINTS = 128
FIRST_STRIDE = 8
MOST_LABELS = 32
"""Values of a label that one metric has curves for: those that came first."""

CURVES = (
    "iln_running_loss",
    "iln_error",
    "iln_interval_coverage_ratio",
    "iln_shrink_frequency",
    "iln_alpha_l1",
    "iln_expert_weight",
    "iln_recent_error_ratio",
    "iln_contender_evidence",
    "iln_champion",
    "step",
)
"""The metrics that have curves. Each is a function of the events alone, not of clocks."""

_Column: TypeAlias = tuple[str, Any]
_Point: TypeAlias = tuple[int, int, tuple[float, ...]]

_NAN = float("nan")


RECENT_STRIDE = 256
RECENT_POINTS = 40
"""Points of the recent curves: they cover the last 10,000 steps. Errors are those of a window of
steps, which changes slowly; a point takes as long as some ten steps of profile `fast`."""


class SampledCurves:
    """Samples metrics at every `stride`-th step; the stride doubles when there are 128 points.

    With `last`, the stride stays, and the newest `last` points are kept.

    The points are a function of the steps alone: a run that resumes from `state()` goes on to
    sample at the same steps as one that was never interrupted. One thread may sample while others
    read.

    Examples
    --------
    >>> from iln_stream.loop.live import SampledCurves
    >>> from iln_stream.reporting import MetricSpec
    >>> curves = SampledCurves()
    >>> drift = MetricSpec("iln_recent_error_ratio", "gauge", "Of the example.", lambda: 1.5)
    >>> curves.sample(serial=8, events=8, specs=[drift])
    >>> curves.data(after=0)["series"], curves.due
    ({'iln_recent_error_ratio': [1.5]}, 16)

    """

    def __init__(self, stride: int = FIRST_STRIDE, last: int | None = None) -> None:
        # stride: steps from one point to the next. After it has doubled, only points whose serial
        # number is a multiple of it remain. due: serial number of the next step to sample
        self.stride = self.due = stride
        self._last = last
        # Both are only appended to, or replaced, so that other threads may read them.
        self._columns: dict[_Column, int] = {}
        self._points: list[_Point] = []

    def sample(self, serial: int, events: int, specs: Iterable[MetricSpec]) -> None:
        """Add a point.

        There were `serial` steps and `events` predicted events so far; a metric that fails has no
        value at this point.
        """
        columns = self._columns
        values = [_NAN] * len(columns)
        for spec in specs:
            found = read(spec)
            if found is None:
                continue
            for name, label, value in flat(spec, found):
                if (name, label) not in columns:
                    if sum(other == name for other, _ in columns) >= MOST_LABELS:
                        continue
                    columns[name, label] = len(columns)
                    values.append(_NAN)
                if value is not None:
                    values[columns[name, label]] = value
        points = self._points
        points.append((serial, events, tuple(values)))
        if self._last is not None:
            self._points = points[-self._last :]
        elif len(points) >= MOST_POINTS:
            self.stride *= 2
            self._points = [point for point in points if point[0] % self.stride == 0]
        self.due = serial - serial % self.stride + self.stride

    def data(self, after: int, last: int | None = None) -> dict[str, Any]:
        """Return the points after a serial number as JSON values; null: the metric had no value.

        `last` is the greatest serial number to return; None: all.

        Whoever has the points up to `after` keeps those whose serial number is a multiple of
        `stride`, and appends these.
        """
        stride, columns = self.stride, list(self._columns)
        points = [
            point
            for point in list(self._points)
            if point[0] > after and (last is None or point[0] <= last)
        ]
        series: dict[str, Any] = {}
        for index, (name, label) in enumerate(columns):
            values = [number(v[index]) if index < len(v) else None for _, _, v in points]
            if label is None:
                series[name] = values
            else:
                series.setdefault(name, {})[cut(label)] = values
        return {
            "stride": stride,
            "serials": [serial for serial, _, _ in points],
            "events": [events for _, events, _ in points],
            "series": series,
        }

    def state(self) -> StateDict:
        """Return all points."""
        n = len(self._columns)
        table = np.full((len(self._points), n), _NAN)
        for row, (_, _, values) in zip(table, self._points, strict=True):
            row[: len(values)] = values
        return {
            "stride": self.stride,
            "due": self.due,
            "columns": [
                [name, None if label is None else str(label)] for name, label in self._columns
            ],
            "serials": [serial for serial, _, _ in self._points],
            "events": [events for _, events, _ in self._points],
            "values": table,
        }

    def restore(self, state: StateDict) -> None:
        self.stride, self.due = state["stride"], state["due"]
        self._columns = {renamed(*column): i for i, column in enumerate(state["columns"])}
        rows: Sequence[Sequence[float]] = state["values"].tolist()
        self._points = [
            (serial, events, tuple(row))
            for serial, events, row in zip(state["serials"], state["events"], rows, strict=True)
        ]


_OF_0_2 = re.compile("iln_(baseline_|windowed_|running_)+(mae|loss)")
_RENAMED_SINCE = {
    "iln_drift": "iln_recent_error_ratio",
    "iln_interval_coverage": "iln_interval_coverage_ratio/observed",
}


def renamed(name: str, label: str | None) -> _Column:
    """Return the name of a curve of release 0.2; those of contenders and accuracy begin anew.

    Examples
    --------
    >>> from iln_stream.loop.live import renamed
    >>> renamed("iln_windowed_mae", None), renamed("iln_baseline_running_loss", "last_value")
    (('iln_error/mae/window', 'model'), ('iln_error/loss/all', 'last_value'))
    >>> renamed("iln_running_loss", None)
    ('iln_running_loss', None)

    """
    if name == "iln_running_loss" or not (found := _OF_0_2.fullmatch(name)):
        return _RENAMED_SINCE.get(name, name), label
    over = "all" if "running_" in name else "window"
    return f"iln_error/{found[2]}/{over}", label or "model"


def flat(
    spec: MetricSpec, found: float | Mapping[Any, float]
) -> Iterator[tuple[str, Any, float | None]]:
    """Yield name, label and value of each sample; all labels but the last are part of the name."""
    if not isinstance(found, Mapping):
        yield spec.name, None, found
    elif isinstance(spec.label, tuple):
        for (*others, label), value in found.items():
            yield "/".join((spec.name, *others)), label, value
    else:
        for label, value in found.items():
            yield spec.name, label, value


def read(spec: MetricSpec) -> float | Mapping[Any, float] | None:
    """Return the value of a metric, None if it can't be read; a scrape warns of that."""
    try:
        return spec.read()
    except Exception:  # a learner's metrics may raise any error
        return None


MOST_STEPS = 256
MOST_LETTERS = 50
MOST_COMMANDS = 20
MOST_PROMOTIONS = 20


class About(NamedTuple):
    """What does not change while a learner learns."""

    task: str  # "regression" or "classification"
    source: str  # address of the events
    learner: str  # the setting `learner`
    version: str  # the model's version, as predictions carry it
    # name of the field that is predicted; None: events have no fields of their own
    target: str | None = None
    unit: str | None = None  # its unit, if a setting says it


class LiveModel(Listener):
    """Remembers the latest steps, dead letters and commands of one learner, and samples curves.

    Put it after the listener that counts. All else is read by the thread that asks for `data`.
    `specs` returns all metrics of the learner; None: those of `watched`.
    """

    def __init__(
        self, watched: ModelMetrics, specs: Callable[[], Sequence[MetricSpec]] | None = None
    ) -> None:
        self._watched = watched
        self._specs = specs or watched.metrics
        self._curves = SampledCurves()
        self._recent = SampledCurves(RECENT_STRIDE, RECENT_POINTS)
        self._curved: Sequence[MetricSpec] | None = None
        self.slices = ErrorSlices()  # finds where the latest errors are
        self.series: Sequence[str] = ()  # fields that name the series of an event
        self._steps = LatestSteps(MOST_STEPS)
        self._letters: deque[dict[str, Any]] = deque(maxlen=MOST_LETTERS)
        self._commands: deque[dict[str, Any]] = deque(maxlen=MOST_COMMANDS)
        self._promotions: deque[dict[str, Any]] = deque(maxlen=MOST_PROMOTIONS)
        self.champion: str | None = None  # name of the contender that predicts now
        self._due = self._curves.due
        self._idle_at = -1
        self._ended = False
        self.about: About | None = None  # set before `data` is called
        # returns the latest checkpoints, oldest first
        self.checkpoints: Callable[[], Sequence[Mapping[str, Any]]] = tuple
        # returns the series with the largest errors, the worst first
        self.worst_series: Callable[[], Sequence[Mapping[str, Any]]] = tuple
        # returns the standings of a contest
        self.standings: Callable[[], Sequence[Any]] | None = None
        self.versions: Mapping[str, str] = {}  # version of each contender

    @property
    def most_steps(self) -> int:  # type: ignore[override]  # of which it only reads
        """Steps until the curves are sampled, which are of the learner after that step."""
        return min(self._due - self.n, MOST_IN_A_ROW)

    def on_step(self, step: Step) -> None:
        """Remember the step; sample the curves if that is due."""
        self._steps.add((step,))
        if step.loss is not None:
            self.slices.on_steps((step,))
        champion = step.details.contender
        if champion is not self.champion and champion is not None:
            self._predicted_by(champion)
        if self.n == self._due:
            self._sample()

    @property
    def n(self) -> int:
        """Number of steps so far, which is the serial number of the last one."""
        return self._steps.n

    def on_steps(self, steps: Sequence[Step]) -> None:
        """Remember steps, all with a label and of the only learner; sample the curves if due."""
        self._steps.add(steps)
        self.slices.on_steps(steps)
        if self.n == self._due:
            self._sample()

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """Remember the letter."""
        self._letters.append(row_of_letter(self.n, letter))

    def on_command(self, command: Command) -> None:
        """Remember a command that the learner has carried out."""
        self._commands.append({"serial": self.n, **plain(command._asdict())})

    def on_idle(self) -> None:
        """Note that there is nothing to learn."""
        self._idle_at = self.n

    def end(self) -> None:
        """Note that nothing more will be learned."""
        self._ended = True

    @property
    def doing(self) -> str:
        """`learning`, `idle` (nothing to learn) or `ended`."""
        if self._ended:
            return "ended"
        return "idle" if self._idle_at == self.n else "learning"

    def data(self, after: int) -> dict[str, Any]:
        """Return all as JSON values; of steps and points of curves those after a serial number."""
        assert self.about is not None
        # A client asks next for what comes after the last of these steps: so the points of curves
        # end there, too, although more of both may come meanwhile.
        steps = self._rows(after)
        last = steps[-1]["serial"] if steps else after
        model, partition = self._watched.labels
        standings = self.standings() if self.standings else ()
        contenders = rows_of_standings(standings, self.versions)
        champion = next((each["name"] for each in contenders if each["status"] == "champion"), "")
        return {
            "model": model,
            "partition": partition,
            **self.about._asdict(),
            "version": self.versions.get(champion, self.about.version),
            "state": self.doing,
            "n": self.n,
            "contenders": contenders,
            "metrics": _values(self._specs()),
            "histograms": {
                each.name: {
                    "bounds": list(each.bounds),
                    "counts": list(each.counts),
                    "sum": plain(each.total),
                }
                for each in self._watched.histograms
            },
            "curves": self._curves.data(after, last),
            "recent": self._recent.data(after, last),
            "steps": steps,
            "calibration": plain(self._watched.scores.calibration()),
            "slices": self.slices.data(),
            "window": self._watched.about_window(),
            "dead_letters": list(self._letters),
            "checkpoints": list(self.checkpoints()),
            "worst_series": list(self.worst_series()),
            "commands": list(self._commands),
            "promotions": list(self._promotions),
        }

    def state(self) -> StateDict:
        """Return what a resumed run shows: curves, steps, dead letters, commands, promotions."""
        return {
            "n": self.n,
            "curves": self._curves.state(),
            "recent": self._recent.state(),
            "steps": self._rows(),
            "dead_letters": list(self._letters),
            "commands": list(self._commands),
            "promotions": list(self._promotions),
            "champion": self.champion,
        }

    def restore(self, state: StateDict) -> None:
        self._steps.n = state["n"] - len(state["steps"])
        self._steps.add(state["steps"])
        self._curves.restore(state["curves"])
        self._recent.due = self.n - self.n % RECENT_STRIDE + RECENT_STRIDE
        if state.get("recent", {}).get("stride") == RECENT_STRIDE:  # none, or another, before 0.3
            self._recent.restore(state["recent"])
        self._due = min(self._curves.due, self._recent.due)
        self._letters.extend(state["dead_letters"])
        self._commands.extend(state["commands"])
        self._promotions.extend(state["promotions"])
        self.champion = state["champion"]

    def _rows(self, after: int = 0) -> list[dict[str, Any]]:
        """Return the steps with a serial number above `after`."""
        return [
            step if isinstance(step, dict) else row_of_step(serial, step, self.series)
            for serial, step in self._steps.after(after)
        ]

    def _predicted_by(self, champion: str) -> None:
        """Note a promotion if the champion is another one than before."""
        if self.champion is not None and champion != self.champion:
            events = self._watched.scores.n_events
            self._promotions.append({"serial": self.n, "events": events, "contender": champion})
        self.champion = champion

    def _sample(self) -> None:
        if self._curved is None:
            found = [spec for spec in self._specs() if spec.name in CURVES]
            found.append(MetricSpec("step", "gauge", "Latest labelled step.", self._latest, "of"))
            # In one order, whether the specs of a family stand together or not.
            self._curved = sorted(found, key=lambda spec: CURVES.index(spec.name))
        n, events = self.n, self._watched.scores.n_events
        if n == self._curves.due:
            self._curves.sample(n, events, self._curved)
        if n == self._recent.due:
            errors = [spec for spec in self._curved if spec.name in ("iln_error", "step")]
            self._recent.sample(n, events, errors)
        self._due = min(self._curves.due, self._recent.due)

    def _latest(self) -> dict[str, float]:
        """Return the latest labelled step as numbers: its time and, of a regression, the rest."""
        for step in reversed(self._steps):
            row = step if isinstance(step, dict) else row_of_step(0, step)
            if row["y"] is not None:
                break
        else:
            return {}
        found = {"time": row["time"]}
        if isinstance(row["y_pred"], float):
            low, high = row["interval"] or (None, None)
            found |= {"label": row["y"], "prediction": row["y_pred"], "low": low, "high": high}
        return {name: value for name, value in found.items() if value is not None}


def _values(specs: Sequence[MetricSpec]) -> dict[str, Any]:
    """Return the values that a scrape would get now; a metric without a value is left out."""
    found: dict[str, Any] = {}
    for spec in specs:
        if (value := read(spec)) is None:
            continue
        for name, label, each in flat(spec, value):
            if label is None:
                found[name] = each
            elif each is not None:
                found.setdefault(name, {})[label] = float(each)
    return {name: plain(value) for name, value in found.items()}


_TYPE = ("Content-Type", "application/json")
_HEADERS = (_TYPE, ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"))


def live_route(
    models: Callable[[], Sequence[LiveModel]], not_ready: Callable[[], Sequence[str]]
) -> WSGIApplication:
    """Return the application of /live, which describes all models.

    `not_ready` returns why events can't be learned now, if there is a reason.
    """
    started_at = time()

    def answer(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        present = models()
        try:
            after = after_of(environ.get("QUERY_STRING", ""), len(present))
        except ValueError:
            return refuse_after(start)
        state = state_of({model.doing for model in present}, not_ready())
        data = [model.data(n) for model, n in zip(present, after, strict=True)]
        return answer_live(start, started_at, state, data)

    return answer


def answer_live(
    start: StartResponse, started_at: float, state: str, models: Sequence[Mapping[str, Any]]
) -> Iterable[bytes]:
    """Answer with the state of a run and its models."""
    run = {"release": __version__, "started_at": started_at, "at": time(), "state": state}
    found = {**run, "models": models}
    start("200 OK", [*_HEADERS])
    return [json.dumps(found, allow_nan=False, separators=(",", ":")).encode()]


def refuse_after(start: StartResponse) -> Iterable[bytes]:
    """Answer that `after` can't be read."""
    message = "after: give the serial number of the last step that you have, or 0; of "
    error = {"error": f"{message}several models one number each, separated by commas"}
    start("400 Bad Request", [*_HEADERS])
    return [json.dumps(error).encode()]


def after_of(query: str, n_models: int) -> list[int]:
    """Return the serial number after which to answer, of each model.

    Raises
    ------
    ValueError
        When the query has something else.

    """
    (text,) = parse_qs(query, keep_blank_values=True).get("after", ["0"])
    numbers = [int(number) for number in text.split(",")]
    if len(numbers) == 1:
        return numbers * n_models
    return (numbers + [0] * n_models)[:n_models]


def state_of(states: AbstractSet[str], reasons: Sequence[str]) -> str:
    """Return what all models together do, if those are their states."""
    if reasons:
        return f"waiting: {'; '.join(reasons)}"
    return next(each for each in ("learning", "idle", "ended") if each in (states or {"idle"}))
