"""Whether a run learns what its records have: labels, times in order, and the same inputs."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from iln_stream.errors import IlnWarning
from iln_stream.loop.event_order import EventOrder
from iln_stream.loop.forecasts import Forecasts
from iln_stream.loop.late_labels import LateLabels
from iln_stream.loop.step import MOST_IN_A_ROW, Listener, Step
from iln_stream.loop.steps import FEW, Steps
from iln_stream.records.values import is_number
from iln_stream.reporting import MetricSpec

PROBLEMS = ("nothing_learned", "labels_without_events", "times_go_back", "inputs_vanished")

_BATCH = 100
"""Steps from one check to the next, at least."""

_EVERY = 20
"""Events of which the names of one are looked at."""

_LOOKS = 10
"""Looks in which an input was always there, or never, until that means something."""

_EVENTS = 1_000
"""Events after which a run that goes on is warned of what it did not learn."""


def _is_number(label: int | str) -> bool:
    return isinstance(label, int) or is_number(label)


class LearningCheck(Listener):
    """Warns once of each way in which a run goes on and learns nothing, or in a wrong order.

    Parameters
    ----------
    name
        Name of the stream in messages.
    late
        Where events and labels wait for each other; None: labels are in their records.
    target
        The field of the label, if it has a name.
    refuses
        Whether a stream that runs backwards ends the run, as a file can be sorted.
    one_series
        Whether a stream whose times are those of several series ends the run.
    """

    most_steps = MOST_IN_A_ROW

    def __init__(
        self,
        name: str,
        late: LateLabels | Forecasts | None,
        target: str | None = None,
        *,
        refuses: bool = False,
        one_series: bool = False,
    ) -> None:
        self._name = name
        self._late = late
        self._target = target
        self._order = EventOrder(name, refuses=refuses, one_series=one_series)
        self._steps: list[Step] = []  # not noted yet: many at once take less time
        self._n_noted = 0  # since the last check
        self._usual: dict[str, int] = {}  # looks since each usual input was there last
        self._seen: set[str] = set()
        self._n_looks = 0
        self._found = dict.fromkeys(PROBLEMS, 0)
        self._labels: set[Any] | None = set()  # until their kind is known
        # n_events, n_learned: events that were predicted, and labels that were learned, in this run
        self.n_events = 0
        self.n_learned = 0

    def on_step(self, step: Step) -> None:
        """Note the step."""
        self.on_steps([step])

    def on_steps(self, steps: Sequence[Step]) -> None:
        """Note the steps."""
        if len(steps) < FEW:
            self._steps.extend(steps)
        else:
            self._note(self._steps)
            self._steps = []
            self._note(steps)
        if self._n_noted + len(self._steps) >= _BATCH:
            self.check()

    def _note(self, noted: Sequence[Step]) -> None:
        if not noted:
            return
        steps = Steps.of(noted)
        self._n_noted += len(steps)
        self.n_learned += len(steps) - steps.y.count(None)
        if self._labels is not None:
            self._labels.update(y for y in steps.y if y is not None)
        events = steps.where([not late for late in steps.late]) if True in steps.late else steps
        self._order.on_steps(events)
        for x in events.x[-self.n_events % _EVERY :: _EVERY]:
            self._look(x)
        self.n_events += len(events)

    def check(self, *, at_end: bool = False) -> None:
        """Check the steps so far, and warn of what is found.

        Raises
        ------
        RefusedError
            When a file runs backwards, or a series is several; see `EventOrder.check`.

        """
        self._note(self._steps)
        self._steps, self._n_noted = [], 0
        if self._labels is not None and (self.n_learned >= _EVENTS or at_end):
            self._suits()
        out_of_order = self._order.check()
        several = isinstance(self._late, Forecasts) and self._late.several
        if several:  # they may come one after the other, and many before the first label
            out_of_order = None
        if out_of_order and (at_end or self.n_events >= _EVENTS):
            self._tell("times_go_back", out_of_order)
        is_time = at_end or (self.n_events >= _EVENTS and not several)
        if not self.n_learned and self.n_events and is_time:
            self._nothing_learned(at_end=at_end)

    def _look(self, x: Mapping[Any, float]) -> None:
        """Compare the names of an event's inputs with those that all earlier ones had."""
        names = {name for name in map(str, x) if "=" not in name}
        self._n_looks += 1
        if self._n_looks <= _LOOKS:
            self._usual = dict.fromkeys(names & (self._usual.keys() or names), 0)
            self._seen |= names
            return
        for name, n in list(self._usual.items()):
            self._usual[name] = 0 if name in names else n + 1
            if n + 1 == _LOOKS and name not in names:
                new = sorted(names - self._seen)
                since = f"; new since then: {', '.join(new[:5])}" if new else ""
                self._tell(
                    "inputs_vanished",
                    f"the input {name!r} has no value in the last {_LOOKS * _EVERY} events, and "
                    f"had one in those before{since}. If the field was renamed, rename it at the "
                    "sender, or in the settings",
                )

    def _suits(self) -> None:
        """Warn if the labels are those of another kind of learner."""
        labels, self._labels, n = self._labels or set(), None, self.n_learned
        kinds, several = {*map(type, labels)}, len(labels)
        if kinds == {float} and labels == {0.0, 1.0}:
            self._warn(
                "all labels are 0 or 1: for probabilities, and scores of classes, set "
                "learner = infinite-layer-classifier"
            )
        elif kinds <= {int, str} and several > max(20, n / 2) and all(map(_is_number, labels)):
            self._warn(
                f"{n:,} labels have {several:,} classes, and all are numbers: to learn numbers, "
                "set learner = infinite-layer"
            )

    def _nothing_learned(self, *, at_end: bool) -> None:
        late, n = self._late, self.n_events
        if isinstance(late, LateLabels):
            n_events, n_labels = late.waiting
            if n_labels + late.n_without_event:
                pair = late.unmet()
                ids = f", such as {pair[1]!r}; events have ids such as {pair[0]!r}" if pair else ""
                self._tell(
                    "labels_without_events",
                    f"{n_labels + late.n_without_event:,} labels have met no event{ids}, so that "
                    "nothing was learned: their ids must be the same texts as those of the events",
                )
            elif at_end:
                self._tell("nothing_learned", f"no label came for {n_events:,} events")
            return
        if isinstance(late, Forecasts):
            why = f"no value came {late.horizon.text} after one of {n:,} events"
            advice = "give a horizon that the records reach, with times that grow (time_field)"
        else:
            field = "y" if self._target is None else self._target
            why = f"no label is in one of {n:,} events: {field!r} is absent, null or in null_values"
            advice = "name the field of the label in target"
        self._tell("nothing_learned", f"{why}, so that nothing was learned: {advice}")

    def _tell(self, problem: str, message: str) -> None:
        if not self._found[problem]:
            self._found[problem] = 1
            self._warn(message)

    def _warn(self, message: str) -> None:
        warnings.warn(f"{self._name}: {message}", IlnWarning, stacklevel=3)

    def metrics(self) -> tuple[MetricSpec, ...]:
        """Return whether each problem was found."""
        return (
            MetricSpec(
                "iln_learning_problem",
                "gauge",
                "1 once this run has warned of a problem: nothing_learned, labels_without_events, "
                "times_go_back or inputs_vanished.",
                lambda: dict(self._found),
                "problem",
            ),
        )
