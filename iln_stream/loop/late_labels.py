"""Events and labels that come in records of their own, and what becomes of them."""

import json
import warnings
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from math import inf
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from iln_stream.errors import IlnWarning, StateError
from iln_stream.loop.pending import Pending, PendingStore, refused_labels_metric
from iln_stream.loop.step import Step
from iln_stream.records import DeadLetter, Example, MalformedError, payload_bytes
from iln_stream.reporting import MetricSpec
from iln_stream.state import StateDict, decode_name, encode_name
from iln_stream.streams import Record, StreamPartition

if TYPE_CHECKING:
    from iln_stream.loop.stepper import Stepper
    from iln_stream.loop.task import Task


@dataclass(frozen=True)
class LatePolicy:
    """Bounds on waiting events and labels.

    Parameters
    ----------
    events
        Most events that wait; beyond it the oldest expires.
    seconds
        Longest wait, by the times of records. None: any.
    expired
        What happens to an event that waited longer than `seconds`: "count" it only, "write" it to
        the dead letters, or "learn" it with `label`. Of events that expire because there are too
        many, "write" writes these, too; "learn" only counts them, as they were not waited for.
    label
        The label that "learn" assumes.
    early
        Most labels that wait for an event which has not come; beyond it the oldest becomes a dead
        letter. 0: such a label is a dead letter at once.

    Raises
    ------
    ValueError
        When a bound is not positive, or `label` and `expired` contradict each other.

    """

    events: int
    seconds: float | None = None
    expired: Literal["count", "write", "learn"] = "count"
    label: Any = None
    early: int = 0

    def __post_init__(self) -> None:
        if self.events < 1:
            raise ValueError(f"events = {self.events} must be at least 1")
        if self.seconds is not None and not self.seconds > 0:
            raise ValueError(f"seconds = {self.seconds} must be above 0")
        if self.early < 0:
            raise ValueError(f"early = {self.early} must not be negative")
        if (self.expired == "learn") != (self.label is not None):
            raise ValueError("expired = 'learn' needs a label, and only it takes one")
        if self.expired == "learn" and self.seconds is None:
            raise ValueError("expired = 'learn' needs seconds: how long to wait for a label")


AROUND = 15
"""Records before and after one whose times count for it."""

_RECORDS = 2 * AROUND + 1


class RecordClock:
    """The median of the last 31 records' times, in POSIX seconds.

    It depends on the records alone, never on when they are read, so a replay shows the same times.
    A few records dated 2099 do not move it to 2099. It stands still while no record comes. When a
    record came is known 15 records later, by the median of those around it: a stream that goes on
    after a pause of days dates its next record after the pause.

    Examples
    --------
    >>> from iln_stream.loop.late_labels import RecordClock
    >>> clock = RecordClock()
    >>> for time in (10.0, 11.0, 4e9, 12.0):
    ...     clock.see(time)
    >>> clock.time
    11.0

    """

    def __init__(self) -> None:
        self._times: deque[float] = deque()
        self._sorted: list[float] = []
        self.time: float | None = None

    def see(self, time: float | None) -> None:
        """Note the time of a record; None: it is unknown."""
        if time is None:
            return
        times, ordered = self._times, self._sorted
        if len(times) == _RECORDS:
            first = times.popleft()
            del ordered[0 if first == ordered[0] else bisect_left(ordered, first)]
        times.append(time)
        if ordered and time < ordered[-1]:
            insort(ordered, time)
        else:
            ordered.append(time)
        self.time = ordered[(len(ordered) - 1) // 2]

    def state(self) -> StateDict:
        """Return the times that count."""
        return {"times": list(self._times)}

    def restore(self, state: StateDict) -> None:
        """Replace the times by those of a `state()`."""
        self._times.clear()
        self._sorted.clear()
        self.time = None
        for time in state["times"]:
            self.see(time)


Arrival: TypeAlias = int | tuple[str, StreamPartition, int]
"""The serial number of an event that waits; or id, partition and offset of a label that does."""


class ArrivalTimes:
    """Dates what comes by the records around it, and so 15 records later; see `RecordClock`."""

    def __init__(self, streams: Sequence[str]) -> None:
        self._streams = streams
        self._clock = RecordClock()
        self._n_records = 0
        self._undated: deque[tuple[int, Arrival]] = deque()  # with the number of the record

    @property
    def time(self) -> float | None:
        """The time of the latest records; None: unknown."""
        return self._clock.time

    def see(self, time: float | None) -> Sequence[tuple[Arrival, float]]:
        """Note the time of the next record; return what came 15 records before it, and when.

        What came before any record had a time came at -infinity.
        """
        self._clock.see(time)
        self._n_records += 1
        undated, last = self._undated, self._n_records - AROUND
        if not undated or undated[0][0] > last:
            return ()
        since = -inf if self._clock.time is None else self._clock.time
        found = []
        while undated and undated[0][0] <= last:
            found.append((undated.popleft()[1], since))
        return found

    def add(self, which: Arrival) -> None:
        """Note that this came with the last record."""
        self._undated.append((self._n_records, which))

    def state(self) -> StateDict:
        """Return times and what is not dated yet."""
        return {
            "clock": self._clock.state(),
            "n_records": self._n_records,
            "undated": [
                [n, [which] if isinstance(which, int) else [which[0], str(which[1]), which[2]]]
                for n, which in self._undated
            ],
        }

    def restore(self, state: StateDict) -> None:
        self._clock.restore(state["clock"])
        self._n_records = state["n_records"]
        self._undated.clear()
        for n, (which, *of_label) in state["undated"]:
            if of_label:
                partition, offset = of_label
                which = which, StreamPartition.read(partition, self._streams), offset
            self._undated.append((n, which))


class EarlyLabel(NamedTuple):
    """A label, and the record that brought it."""

    label: Example  # the decoded record
    # origin, offset, payload: the record, to be written to the dead letters if no event comes
    origin: StreamPartition
    offset: int
    payload: bytes
    since: float | None = None  # when it came; None: not known yet (see `RecordClock`)

    def letter(self, reason: str) -> DeadLetter:
        """Return the dead letter of the label."""
        return DeadLetter.of(*self.origin, self.offset, self.payload, reason)


class EarlyLabels(dict[str, EarlyLabel]):
    """Labels by the id of the event, the oldest first."""

    def settle(self, event_id: str, origin: StreamPartition, offset: int, since: float) -> None:
        """Note when the label of an event came, if it is still the one of this record."""
        label = self.get(event_id)
        if label is not None and (label.origin, label.offset) == (origin, offset):
            self[event_id] = label._replace(since=since)

    def state(self) -> StateDict:
        """Return the labels, oldest first."""
        return {
            "ids": list(self),
            "labels": [
                {
                    "y": encode_name(each.label.y),
                    "time": each.label.time,
                    "weight": each.label.weight,
                    "partition": str(each.origin),
                    "offset": each.offset,
                    "payload": each.payload.decode("utf-8", errors="surrogateescape"),
                    "since": each.since,
                }
                for each in self.values()
            ],
        }

    def restore(self, state: StateDict, streams: Sequence[str]) -> None:
        """Replace the labels by those of a `state()`, which came from these streams."""
        self.clear()
        for event_id, s in zip(state["ids"], state["labels"], strict=True):
            self[event_id] = EarlyLabel(
                Example(None, decode_name(s["y"]), event_id, s["time"], s["weight"]),
                StreamPartition.read(s["partition"], streams),
                s["offset"],
                s["payload"].encode("utf-8", errors="surrogateescape"),
                s["since"],
            )


REASONS = ("age", "count", "replaced")
"""Why an event expires: it waited too long, too many events wait, or an event with the
same id came."""

_MOST_LISTED = 5

_MOST_COMPARED = 10_000
"""Waiting events whose ids are compared with those of labels that no event has."""

_MOST_AT_ONCE = 100
"""Most events that one record lets expire by age: after a pause it might have to learn them all."""


class LateLabels:
    """Predicts events when they come, and learns them when their labels come, joined by id.

    The order in which labels arrive is the order in which they are learned. The prediction that is
    scored is the one that was published. Each case has one outcome:

    | record | outcome |
    |---|---|
    | an event with an id, without a label | predicted, then waits |
    | the label of an event that waits | learned; the event waits no more |
    | an event that waits, again, now with its label | the same |
    | a label whose event has not come | waits, up to `early`, for its event |
    | an event whose label has come | predicted, scored and learned at once |
    | an event with the id of one that waits | replaces it (`RecentIds` would skip it) |

    Events expire, the oldest first, when they wait too long or too many wait; labels that wait for
    an event become dead letters then. Times are those of records: see `RecordClock`. The task has
    the trivial predictors, which are scored on waiting events, too.
    """

    def __init__(self, policy: LatePolicy, task: "Task", streams: Sequence[str]) -> None:
        self._policy = policy
        self._seconds = inf if policy.seconds is None else policy.seconds
        self._store = PendingStore()
        self._early = EarlyLabels()
        self._streams = streams
        self._arrivals = ArrivalTimes(streams)
        self._trivial = task.trivial()
        self._warned = False
        self._due = inf  # no event, and no early label, is too old before
        self.n_expired = dict.fromkeys(REASONS, 0)
        self.n_without_event = 0

    def __len__(self) -> int:
        """Return the number of waiting events."""
        return len(self._store)

    def __contains__(self, event_id: object) -> bool:
        """Return whether an event with this id waits."""
        return event_id in self._store

    @property
    def waiting(self) -> tuple[int, int]:
        """Return how many events wait for their label, and how many labels for their event."""
        return len(self._store), len(self._early)

    def unmet(self) -> tuple[str, str] | None:
        """Return the id of a waiting event, and of a waiting label that may mean it."""
        events = islice(self._store.items(), _MOST_COMPARED)
        by_text = {event_id.strip().lower().lstrip("0"): event_id for event_id, _ in events}
        labels = list(self._early)
        for label_id in labels:
            if (event_id := by_text.get(label_id.strip().lower().lstrip("0"))) is not None:
                return event_id, label_id
        return (next(iter(by_text.values())), labels[0]) if by_text and labels else None

    def outcomes(
        self, record: Record, example: Example, stepper: "Stepper"
    ) -> Iterable[Step | DeadLetter]:
        """Return the steps and dead letters that a record causes, in order; some cause none.

        Most cause one step, which is made at once, as generators take time. Others are made as they
        are asked for, so that those before an error are not lost.

        Raises
        ------
        MalformedError
            When the record is a label without an event, and may not wait for one.

        """
        arrivals = self._arrivals
        for which, since in arrivals.see(example.time):
            self._settle(which, since)
        now = arrivals.time
        if now is not None and now >= self._due:
            return self._after_old(now, record, example, stepper)
        return self._own_outcomes(record, example, stepper)

    def forget(self, event_id: str) -> None:
        """Drop the label that waits for an event, if there is one."""
        self._early.pop(event_id, None)

    def _after_old(
        self, now: float, record: Record, example: Example, stepper: "Stepper"
    ) -> Iterator[Step | DeadLetter]:
        """Yield what old events and labels cause by expiring, and then what the record causes."""
        yield from self._expire_old(now, record, stepper)
        yield from self._own_outcomes(record, example, stepper)

    def _own_outcomes(
        self, record: Record, example: Example, stepper: "Stepper"
    ) -> Iterable[Step | DeadLetter]:
        """Return what a record causes, if nothing expires by age."""
        x, event_id, store = example.x, example.id, self._store
        if event_id is None:
            assert x is not None  # a label has an id
            return (self._learned(stepper.step(record, example, x)),)
        if x is None or example.y is not None:
            if (event := store.get(event_id)) is not None:
                return (self._learn(record, event_id, event, example, stepper),)
            if x is None:
                return self._early_label(record, event_id, example, stepper)
            return self._labelled(record, event_id, example, x, stepper)
        if (early := self._early.get(event_id)) is not None:
            label = early.label
            weight = example.weight if label.weight is None else label.weight
            whole = example._replace(y=label.y, weight=weight)
            step = self._learned(stepper.step(record, whole, x))
            self._early.pop(event_id, None)
            return (step,)
        step = self._predict(record, event_id, example, x, stepper)
        return chain((step,), self._expire_many()) if self._too_many() else (step,)

    def _settle(self, which: Arrival, since: float) -> None:
        """Note when an event or a label came."""
        if isinstance(which, int):
            self._store.settle(which, since)
        else:
            self._early.settle(*which, since)
        self._note_due(since)

    def _labelled(
        self,
        record: Record,
        event_id: str,
        example: Example,
        x: dict[str, float],
        stepper: "Stepper",
    ) -> Iterator[Step | DeadLetter]:
        """Yield the step of an event that has its label and does not wait."""
        if (early := self._early.get(event_id)) is not None:
            yield from self._second_label(event_id, early, example)
        yield self._learned(stepper.step(record, example, x))

    def _predict(
        self,
        record: Record,
        event_id: str,
        example: Example,
        x: dict[str, float],
        stepper: "Stepper",
    ) -> Step:
        """Predict an event, which waits from now on."""
        step, token = stepper.predict(record, example, x)
        if event_id in self._store:
            self._store.remove(event_id)
            self.n_expired["replaced"] += 1
        if self._policy.expired == "learn" and isinstance(step.y_pred, Mapping):
            step = step._replace(y_pred=self._with_assumed(step.y_pred, stepper))
        event = Pending.of(step, token, example.weight, self._trivial.now)
        self._arrivals.add(self._store.add(event_id, event))
        return step

    def _with_assumed(
        self, p: Mapping[object, float], stepper: "Stepper"
    ) -> Mapping[object, float]:
        """Return probabilities; while one class is known, with the class assumed of late events.

        First labels are often all of the other class, such as frauds: the events that wait count as
        if they were of the assumed one.
        """
        if len(p) != 1 or (assumed := stepper.task.label(self._policy.label)) in p:
            return p
        n = sum(self._trivial.now)
        share = (n + 1.0) / (n + len(self._store) + 2.0)
        return {**dict.fromkeys(p, share), assumed: 1.0 - share}

    def _early_label(
        self, record: Record, event_id: str, label: Example, stepper: "Stepper"
    ) -> Iterator[DeadLetter]:
        """Keep a label whose event does not wait; yield what that causes."""
        if (early := self._early.get(event_id)) is not None:
            yield from self._second_label(event_id, early, label)
        elif not self._policy.early:
            self.n_without_event += 1
            raise MalformedError(_without_event(event_id))
        stepper.task.label(label.y)  # raises if it is not valid
        payload = payload_bytes(record.payload)
        self._early[event_id] = EarlyLabel(label, record.origin, record.offset, payload)
        self._arrivals.add((event_id, record.origin, record.offset))
        if len(self._early) > self._policy.early:
            yield self._expire_early()

    def _learn(
        self, record: Record, event_id: str, event: Pending, label: Example, stepper: "Stepper"
    ) -> Step:
        """Learn the label of a waiting event, which waits on if the learner fails."""
        step = stepper.learn_late(record, event_id, event, label)
        self._store.remove(event_id)
        return self._learned(step)

    def _learned(self, step: Step) -> Step:
        if step.loss is not None:
            self._trivial.learn(step.y, step.weight)
        return step

    def _second_label(
        self, event_id: str, early: EarlyLabel, label: Example
    ) -> Iterator[DeadLetter]:
        """Forget an early label, as another one came; unless they agree, it is a dead letter."""
        self._early.pop(event_id, None)
        if early.label.y != label.y:
            yield early.letter(
                f"y: {early.label.y!r} came before its event {event_id!r}, and then {label.y!r}: "
                "the later label counts"
            )

    def _expire_old(
        self, now: float, record: Record, stepper: "Stepper"
    ) -> Iterator[Step | DeadLetter]:
        """Let events and labels expire that waited too long, some at a time."""
        seconds = self._policy.seconds
        assert seconds is not None
        self._due = inf
        for _ in range(_MOST_AT_ONCE):
            found = self._store.oldest()
            if found is None:
                break
            event_id, since = found
            if since is None or since + seconds > now:
                self._note_due(since)
                break
            event = self._store.pop(event_id)
            why = f"no label came within {seconds:g} s"
            self._count_expired("age", why)
            if self._policy.expired == "write":
                yield self._expired(event_id, event, why)
            elif self._policy.expired == "learn":
                yield self._assume(record, event_id, event, stepper)
        else:
            self._due = -inf  # the others with the next records
        while self._early:
            label = next(iter(self._early.values()))
            if label.since is None or label.since + seconds > now:
                self._note_due(label.since)
                break
            yield self._expire_early()

    def _assume(
        self, record: Record, event_id: str, event: Pending, stepper: "Stepper"
    ) -> Step | DeadLetter:
        """Learn the label that is assumed of an event for which none came."""
        label = Example(None, self._policy.label, event_id, None)
        if not self._warned and isinstance(event.y_pred, Mapping):
            self._warn_of_kind(stepper.task.label(label.y), event.y_pred)
        try:
            return self._learned(stepper.learn_late(record, event_id, event, label))
        except StateError:
            raise  # the event may be good, but its key's state can't be read now
        except Exception as error:  # a learner may raise any error; the record is another one's
            reason = f"the learner failed on the assumed label: {type(error).__name__}: {error}"
            return self._expired(event_id, event, reason)

    def _warn_of_kind(self, assumed: object, classes: Mapping[object, float]) -> None:
        """Warn if the assumed class is a number and all others are texts, or the like."""
        others = [each for each in classes if each != assumed]
        if not others or type(assumed) in set(map(type, others)):
            return
        self._warned = True
        warnings.warn(
            f"pending_label = {assumed!r} is learned as a class of its own, beside "
            f"{', '.join(map(repr, others[:_MOST_LISTED]))}; write it as the labels are: "
            """0, true, "no", or '"0"' for the text""",
            IlnWarning,
            stacklevel=2,
        )

    def _too_many(self) -> bool:
        return len(self._store) > self._policy.events

    def _expire_many(self) -> Iterator[DeadLetter]:
        policy, store = self._policy, self._store
        while self._too_many():
            oldest = store.oldest()
            assert oldest is not None
            event_id, _ = oldest
            event = self._store.pop(event_id)
            why = f"more than {policy.events} events wait for a label"
            self._count_expired("count", why)
            if policy.expired == "write":
                yield self._expired(event_id, event, why)

    def _count_expired(self, kind: str, why: str) -> None:
        if not self.n_expired[kind] and self._policy.expired == "count":
            warnings.warn(
                f"an event expired and is not learned: {why}; iln_pending_expired_total counts all",
                IlnWarning,
                stacklevel=2,
            )
        self.n_expired[kind] += 1

    def _expire_early(self) -> DeadLetter:
        """Return the dead letter of the label that waits longest."""
        event_id = next(iter(self._early))
        label = self._early.pop(event_id)
        self.n_without_event += 1
        return label.letter(_without_event(event_id))

    def _expired(self, event_id: str, event: Pending, reason: str) -> DeadLetter:
        """Return the dead letter of an expired event: its inputs as numbers, id and time."""
        fields = {"id": event_id, "x": event.x, "timestamp": event.time}
        payload = json.dumps({k: v for k, v in fields.items() if v is not None}).encode()
        why = f"id: {event_id!r} expired: {reason}"
        return DeadLetter.of(self._streams[0], event.partition, event.offset, payload, why)

    def _note_due(self, since: float | None) -> None:
        if since is not None and -inf < (due := since + self._seconds) < self._due:
            self._due = due

    def metrics(self) -> Sequence[MetricSpec]:
        return (
            *self._store.metrics(),
            MetricSpec(
                "iln_pending_expired_total",
                "counter",
                "Events that expired before their label came, by reason: age, count, or "
                "replaced by an event with the same id.",
                lambda: dict(self.n_expired),
                "reason",
            ),
            refused_labels_metric("no_event", lambda: self.n_without_event),
        )

    def begin_counts(self) -> None:
        """Count from 0 again."""
        self.n_expired = dict.fromkeys(REASONS, 0)
        self.n_without_event = 0

    def state(self) -> StateDict:
        """Return all that waits, and the counts."""
        return {
            "store": self._store.state(),
            "early": self._early.state(),
            "arrivals": self._arrivals.state(),
            "due": self._due,
            "trivial": self._trivial.state(),
            "n_expired": dict(self.n_expired),
            "n_without_event": self.n_without_event,
            "waiting": list(self.waiting),  # for readers of snapshots; not restored
        }

    def restore(self, state: StateDict) -> None:
        """Replace all that waits by that of a `state()`."""
        self._store.restore(state["store"])
        self._early.restore(state["early"], self._streams)
        self._arrivals.restore(state["arrivals"])
        self._trivial.restore(state["trivial"])
        saved = state["n_expired"]  # with further reasons in snapshots of earlier releases
        self.n_expired = {why: saved[why] for why in REASONS}
        self.n_without_event = state["n_without_event"]
        self._due = inf if self._policy.seconds is None else state["due"]


def _without_event(event_id: str) -> str:
    return (
        f"id: no event {event_id!r} waits for a label: no such event came, it is a dead "
        "letter itself, it already has its label, or it expired (see pending_events and "
        "pending_seconds)"
    )
