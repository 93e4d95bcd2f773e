"""Inputs made of a key's earlier events: counts, sums, means, ... over windows of time."""

import datetime as dt
import hashlib
import json
import warnings
import zlib
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from math import inf, isfinite, isnan, nan
from numbers import Real
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from river import base

from iln_stream.errors import IlnWarning
from iln_stream.learners.keyed.key_file import STORED, KeysElsewhere
from iln_stream.learners.keyed.store import (
    LARGEST_ROW,
    LONGEST_KEY,
    KeysInMemory,
    KeyStore,
    Row,
    as_key,
)
from iln_stream.reporting import MetricSpec, kept_keys_metric, key_evictions_metric
from iln_stream.state import TRANSFORMERS, StateDict, StateSchema

How = Literal[
    "count", "since_last", "sum", "mean", "std", "min", "max", "last", "distinct",
    "ratio_to_mean", "label_mean",
]  # fmt: skip

MOST_KEYS = 1_000_000
"""Keys that are kept in memory for each list of fields; without a file, the one whose last event
came longest ago is forgotten for a new one."""

_FILE = "aggregates-{}.db"
"""Names of the files of keys in a folder of snapshots."""

_FURTHEST = 1e12
"""Seconds from 1970 beyond which a time is none, and steps could not be numbered."""

_TIMES = 9
"""Times of events whose median moves the clock."""

_WITHOUT_FIELD = ("count", "since_last", "label_mean")
_WITHOUT_WINDOW = ("last", "since_last", "label_mean")


@cache
def _loops() -> Any:
    """Return the module `kernels.aggregates`, which only runs with aggregates need."""
    from iln_stream.kernels import aggregates as found

    return found


@dataclass(frozen=True)
class Aggregate:
    """What an input says of the earlier events of the same key.

    Parameters
    ----------
    how
        `count` of events; the seconds `since_last` event; `sum`, `mean`, `std`, `min`, `max` or
        `last` value of a field; the number of its `distinct` values; the present value's
        `ratio_to_mean`; the `label_mean`, of the labels that are known.
    by
        The fields that are the key; none: all events have the same one.
    of
        The field; of `label_mean`, the class whose share it is; None: the mean of numbers, and the
        share of true ones.
    over
        Seconds of the window; None: all events.

    Raises
    ------
    ValueError
        When these do not fit together.

    Examples
    --------
    >>> from iln_stream.learners.keyed.aggregates import Aggregate
    >>> Aggregate("sum", by=("card",), of="amount", over=3600.0)
    Aggregate(how='sum', by=('card',), of='amount', over=3600.0)
    >>> Aggregate("sum", by=("card",))
    Traceback (most recent call last):
    ...
    ValueError: of: sum needs the name of a field

    """

    how: How
    by: tuple[str, ...] = ()
    of: str | None = None
    over: float | None = None

    def __post_init__(self) -> None:
        if self.how not in get_args(How):
            raise ValueError(f"how: {self.how!r} is not among {', '.join(get_args(How))}")
        if self.of is None and self.how not in _WITHOUT_FIELD:
            raise ValueError(f"of: {self.how} needs the name of a field")
        if self.of is not None and self.how in ("count", "since_last"):
            raise ValueError(f"of: {self.how} is of events, and takes no field")
        if self.over is not None and self.how in _WITHOUT_WINDOW:
            raise ValueError(f"over: {self.how} takes no window")
        if self.over is not None and not 0.001 <= self.over < inf:
            raise ValueError(f"over: {self.over} seconds must be above 0.001 and finite")


class Aggregates:
    """Makes inputs of the earlier events of an event's key, and keeps what they need by key.

    An event is not among its own earlier events. A window of an hour holds the events of the last
    60 minutes at most and of the last 56.25 at least: it moves in sixteenths. It ends with the step
    of the event's own time: an event that comes after newer ones of its key does not see those of
    later steps, and one that comes when the window has passed its time is in it no more. Without a
    window, all events count that came before.

    A count or a sum of no events is 0; what no event can tell yet is absent. `distinct` counts by a
    set of 288 bits (linear counting): within 6 % up to 500 values, and at most 1,631.

    We found no library that keeps such windows as plain values, which a snapshot needs: River's
    hold every event of the window, in objects that are pickled.

    A key may be forgotten by its age: once its newest event is too far behind the clock, its next
    event finds none before it, whenever its row is removed. The clock is the largest median so far
    of the times of nine events in a row, so that no four wrong dates among nine move it. A late
    label of a forgotten key counts for all keys, and not for the key.

    Parameters
    ----------
    wanted
        The aggregates by the name of the input.
    waiting
        Most events whose labels are waited for, with their keys.
    most
        Keys that are kept for each list of fields, until they are kept in files.
    forget_keys_after
        Seconds without an event after which a key is forgotten; None: it never is.

    Raises
    ------
    ValueError
        When what is kept of a key would be too much, or a key would be forgotten within a window.

    Examples
    --------
    >>> from iln_stream.learners.keyed.aggregates import Aggregate, Aggregates
    >>> made = Aggregates({
    ...     "n_1h": Aggregate("count", by=("card",), over=3600.0),
    ...     "ratio": Aggregate("ratio_to_mean", by=("card",), of="amount"),
    ... })
    >>> for minute, amount in enumerate([20.0, 40.0]):
    ...     first = made({"card": "c17"}, {"amount": amount}, 60.0 * minute)
    ...     made.accept()
    >>> made({"card": "c17"}, {"amount": 90.0}, 120.0)
    {'n_1h': 2.0, 'ratio': 3.0}
    >>> made({"card": "c18"}, {"amount": 90.0}, 120.0)
    {'n_1h': 0.0}

    """

    def __init__(
        self,
        wanted: Mapping[str, Aggregate],
        waiting: int = 0,
        most: int = MOST_KEYS,
        forget_keys_after: float | None = None,
    ) -> None:
        by: dict[tuple[str, ...], dict[str, Aggregate]] = {}
        for name, each in sorted(wanted.items()):  # a state is of any order of the settings
            if forget_keys_after is not None and (each.over or 0.0) > forget_keys_after:
                raise ValueError(
                    f"{name}: its window is longer than {forget_keys_after:.0f} seconds, after "
                    "which a key is forgotten: set forget_keys_after to at least the longest window"
                )
            by.setdefault(each.by, {})[name] = each
        all_of = wanted.values()
        places = {which: place for place, which in enumerate(dict.fromkeys(map(_value_of, all_of)))}
        named = [(kind, place, name) for (kind, name), place in places.items() if name is not None]
        self._of_numbers = [(place, name) for kind, place, name in named if kind == "number"]
        self._of_texts = [(place, name) for kind, place, name in named if kind == "text"]
        self._of_labels = [(p, name) for (kind, name), p in places.items() if kind == "label"]
        self._values = np.full(len(places), nan)  # of the present event
        self.groups: list[KeyedAggregates] = []
        self._made: list[str] = []
        for fields, of in sorted(by.items()):
            self.groups.append(KeyedAggregates(fields, of, most, places, len(self._made)))
            self._made += of
        self._out = np.empty(len(self._made))
        self._wanted = wanted
        self.names = list(wanted)
        self.texts = frozenset(name for _, name in self._of_texts).union(*by)
        self.numbers = frozenset(name for _, name in self._of_numbers)
        self._most_waiting = waiting
        # The keys of events by their ids.
        self._waiting: OrderedDict[str, list[str | None]] = OrderedDict()
        self._now: float | None = None  # the time of the present event
        self._warned = False
        self._age = forget_keys_after
        self._times: deque[float] = deque(maxlen=_TIMES)
        self._set_clock(-_FURTHEST)

    def __call__(
        self, texts: Mapping[str, str], numbers: Mapping[str, float], time: float
    ) -> dict[str, float]:
        """Return the inputs of an event, by name, and note the event until it is accepted.

        `texts` and `numbers` are the values of the fields of these names, without missing ones; the
        time is in POSIX seconds.
        """
        values, out = self._values, self._out
        for place, name in self._of_numbers:
            values[place] = numbers.get(name, nan)
        for place, name in self._of_texts:
            values[place] = _bit_of(texts.get(name))
        for group in self.groups:
            group.read(texts, values, time, out)
        self._now = time
        found = out.tolist()
        made = dict(zip(self._made, found, strict=True))
        if isfinite(sum(found)):
            return made
        return {name: value for name, value in made.items() if isfinite(value)}

    def accept(self, event_id: str | None = None, y: float | str | None = None) -> None:
        """Take the event of the last call as one of the earlier events from now on.

        By the id its label may come later; y = None: it is not known yet.
        """
        if self._now is None:
            return
        time, self._now = self._now, None
        if self._of_labels:
            self._note_label(y)
        for group in self.groups:
            group.add(self._values, time)
        if self._age is not None:
            self._times.append(time)
            if len(self._times) == _TIMES:
                self._set_clock(max(self._clock, sorted(self._times)[_TIMES // 2]))
        if y is None and event_id is not None and self._of_labels and self._most_waiting:
            self._waiting[event_id] = [group.key for group in self.groups]
            self._waiting.move_to_end(event_id)
            if len(self._waiting) > self._most_waiting:
                self._waiting.popitem(last=False)

    def label(self, event_id: str, y: float | str) -> None:
        """Take a label that came later than its event."""
        keys = self._waiting.pop(event_id, None)
        if keys is None:
            return
        self._note_label(y)
        for group, key in zip(self.groups, keys, strict=True):
            if key is not None:
                group.count_label(key, self._values)

    def _set_clock(self, clock: float) -> None:
        self._clock = clock
        if self._age is not None:
            for group in self.groups:
                group.forget_before(clock - self._age)

    def _note_label(self, y: float | str | None) -> None:
        """Write what each label mean counts of a label to the values; nan: nothing."""
        for place, name in self._of_labels:
            value = nan
            if y is None:
                pass
            elif name is not None:  # a class, as settings write it: `true`, `3`, or its text
                value = float((str(y).lower() if isinstance(y, bool) else as_key(y)) == name)
            elif not isinstance(y, str):
                value = float(y)
            elif not self._warned:
                self._warned = True
                warnings.warn(
                    f"aggregates: the label {y!r:.40} is a text, and label_mean has no mean of "
                    "texts: set of to the class whose share it is",
                    IlnWarning,
                    stacklevel=2,
                )
            self._values[place] = value

    def described(self) -> dict[str, Any] | None:
        """Return what another process needs to read the keys in their files, as JSON has it.

        None: they are not in files.
        """
        if any(isinstance(group.keys, KeysInMemory) for group in self.by_file.values()):
            return None
        return {
            "wanted": {name: asdict(each) for name, each in self._wanted.items()},
            "groups": [group.described() for group in self.groups],
            "forget_keys_after": self._age,
            **self._clock_state(),
        }

    @classmethod
    def of_description(cls, found: Mapping[str, Any]) -> "Aggregates":
        """Return those of `described()`. Their keys are to be given: see `by_file`."""
        made = cls(_declared(found["wanted"]), forget_keys_after=found.get("forget_keys_after"))
        made.restore({**found, "waiting_ids": [], "waiting_keys": []})
        return made

    @property
    def by_file(self) -> dict[str, "KeyedAggregates"]:
        """The aggregates by key of each list of fields, by the name of their file."""
        by_key = (group for group in self.groups if group.by)
        return {_FILE.format(i): group for i, group in enumerate(by_key, 1)}

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the number of keys, and of those that left memory."""
        return (
            kept_keys_metric(
                lambda: {("aggregates",): sum(len(group.keys) for group in self.groups)}
            ),
            key_evictions_metric(
                lambda: {("aggregates",): sum(group.keys.n_evicted for group in self.groups)}
            ),
            MetricSpec(
                "iln_aggregate_keys_forgotten_total",
                "counter",
                "Keys whose aggregates were forgotten, as their last event was longer ago than "
                "`forget_keys_after`.",
                lambda: sum(group.keys.n_forgotten for group in self.groups),
            ),
        )

    def state(self) -> StateDict:
        """Return all keys and what is kept of them."""
        return {
            "groups": [group.state() for group in self.groups],
            "waiting_ids": list(self._waiting),
            "waiting_keys": list(self._waiting.values()),
            **self._clock_state(),
        }

    def _clock_state(self) -> StateDict:
        return {} if self._age is None else {"clock": self._clock, "times": list(self._times)}

    def restore(self, state: StateDict) -> None:
        """Continue from a `state()` of the same aggregates."""
        for group, each in zip(self.groups, state["groups"], strict=True):
            group.restore(each)
        self._waiting = OrderedDict(zip(state["waiting_ids"], state["waiting_keys"], strict=True))
        self._now = None
        self._times = deque(state.get("times", ()), _TIMES)
        self._set_clock(state.get("clock", -_FURTHEST))


class AggregateInputs(base.SupervisedTransformer, base.Transformer):
    """Makes inputs of the earlier events of an event's key, in a River pipeline.

    It gives the aggregates alone: `AggregateInputs(...) + RecordInputs(...) | learner` adds them to
    the inputs of the record. What windows hold, and which event knows what, is as in `Aggregates`.
    It is supervised, since a pipeline transforms an event before such a transformer learns it: the
    event is not among its own earlier events.

    Parameters
    ----------
    aggregates
        The aggregates by the name of the input.
    time
        Name of the event's time: POSIX seconds, a datetime, or that in ISO 8601; without a zone it
        is in UTC.
    forget_keys_after
        Seconds without an event after which a key is forgotten; None: it never is.

    Examples
    --------
    >>> from iln_stream import Aggregate, AggregateInputs
    >>> inputs = AggregateInputs({"n_1h": Aggregate("count", by=("card",), over=3600.0)}, "at")
    >>> x = {"at": 0.0, "card": "c17", "amount": 20.0}
    >>> inputs.learn_one(x, False)
    >>> inputs.transform_one({**x, "at": 60.0}), inputs.transform_one({**x, "at": 7200.0})
    ({'n_1h': 1.0}, {'n_1h': 0.0})

    """

    def __init__(
        self, aggregates: Mapping[str, Aggregate], time: str, forget_keys_after: float | None = None
    ) -> None:
        self.aggregates = aggregates
        self.time = time
        self.forget_keys_after = forget_keys_after
        self._made = Aggregates(aggregates, forget_keys_after=forget_keys_after)

    def transform_one(self, x: Mapping[str, Any]) -> dict[str, float]:
        """Return the aggregates of a record, by name.

        Raises
        ------
        ValueError
            When the time is missing, or a value that should be a number is none.

        """
        when = x.get(self.time)
        if isinstance(when, str):
            with suppress(ValueError):  # named below
                when = dt.datetime.fromisoformat(when)
        if isinstance(when, dt.datetime):
            when = (when if when.tzinfo else when.replace(tzinfo=dt.UTC)).timestamp()
        if not isinstance(when, Real) or not abs(float(when)) < _FURTHEST:
            raise ValueError(
                f"{self.time}: expected POSIX seconds, a datetime or ISO 8601, got {when!r:.60}"
            )
        texts = {name: as_key(x.get(name)) for name in self._made.texts}
        numbers = {name: x[name] for name in self._made.numbers if x.get(name) is not None}
        for name, value in numbers.items():
            if not isinstance(value, Real):
                raise ValueError(f"{name}: aggregates need a number, got {value!r:.60}")
        known = {name: text for name, text in texts.items() if text is not None}
        return self._made(known, numbers, float(when))

    def learn_one(self, x: Mapping[str, Any], y: Any) -> None:
        """Take a record as one of the earlier events from now on, and y as its label."""
        self.transform_one(x)
        self._made.accept(None, y)

    def state(self) -> StateDict:
        """Return arguments, and what is kept of each key, for `iln_stream.save`."""
        wanted = {name: asdict(each) for name, each in self.aggregates.items()}
        given = json.dumps([wanted, self.time, self.forget_keys_after])
        return _INPUTS.write(given=given, made=self._made.state())

    @classmethod
    def from_state(cls, state: StateDict) -> Self:
        """Return the transformer that has this state."""
        given, made = _INPUTS.read(state, "given", "made")
        wanted, *others = json.loads(given)
        inputs = cls(_declared(wanted), *others)
        inputs._made.restore(made)
        return inputs

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"aggregates": {"n": Aggregate("count")}, "time": "ordinal_date"}


TRANSFORMERS.add(AggregateInputs)
_INPUTS = StateSchema("iln_stream.AggregateInputs", 1)


def _declared(wanted: Mapping[str, Any]) -> dict[str, Aggregate]:
    return {name: Aggregate(**{**each, "by": tuple(each["by"])}) for name, each in wanted.items()}


class KeyedAggregates:
    """The aggregates of one list of fields, and where they are kept by key.

    Parameters
    ----------
    by
        The fields.
    wanted
        The aggregates by the name of the input.
    most
        Keys that are kept, until they are kept in a file.
    places
        Where the values of an event are: see `_value_of`.
    begin
        Where the first input is written.
    """

    def __init__(
        self,
        by: tuple[str, ...],
        wanted: Mapping[str, Aggregate],
        most: int,
        places: Mapping[tuple[str, str | None], int],
        begin: int,
    ) -> None:
        self.by = by  # the fields
        # that of the event that was read last, as one text, a long one as its hash; None: a field
        # of it is missing
        self.key: str | None = None
        loops, size = _loops(), _loops().HEAD
        kinds, reads = _kinds(), []
        found: dict[tuple[int, str | None, float | None], int] = {}
        measures: list[tuple[int, int, int, int]] = []
        seconds: list[float] = []
        self._labels: list[tuple[int, int]] = []
        for to, each in enumerate(wanted.values(), begin):
            kind, how = kinds[each.how]
            if kind is None or (each.how == "count" and each.over is None):
                reads.append((how, -1, to))
                continue
            which = kind, each.of, each.over
            if which not in found:
                found[which] = len(measures)
                n = 1 if each.over is None else loops.STEPS
                place = places[_value_of(each)]
                measures.append((kind, size, n, place))
                seconds.append(0.0 if each.over is None else each.over / n)
                if kind == loops.LABELS:
                    self._labels.append((size, place))
                size += n * loops.COLUMNS[kind]
            reads.append((how, found[which], to))
        self._reads = np.array(reads)
        self._measures = np.array(measures, np.int64).reshape(-1, 4)
        self._seconds = np.array(seconds, np.float64)
        self._inputs = slice(begin, begin + len(wanted))
        if size > LARGEST_ROW:
            raise ValueError(
                f"by {', '.join(by)}: {size:,} numbers for each key, and at most {LARGEST_ROW:,} "
                "are possible: declare fewer aggregates, or more without a window"
            )
        self.size = size  # numbers that are kept of a key
        self._nobody, self._of_all = np.zeros(size), np.zeros(size)
        self._most = most
        self._oldest: float | None = None
        self._keys: KeyStore = KeysInMemory(size, most)

    @property
    def keys(self) -> KeyStore:
        """What is kept, by key."""
        return self._keys

    def keep_keys_in(self, keys: KeyStore) -> None:
        """Let another store have what is kept from now on; that of this one is forgotten."""
        self._keys = keys
        keys.forgets = None if self._oldest is None else self._forgets

    def forget_before(self, oldest: float) -> None:
        """Let keys count as new whose newest event was before a time, which only grows."""
        self._oldest = oldest
        self._keys.forgets = self._forgets

    def _forgets(self, row: Row) -> bool:
        loops = _loops()
        return bool(row[loops.N_EVENTS] > 0.0 and row[loops.NEWEST] < self._oldest)

    def read(
        self,
        texts: Mapping[str, str],
        values: NDArray[np.float64],
        time: float,
        out: NDArray[np.float64],
    ) -> None:
        """Write the inputs of an event, and note its key; nan: there is no input."""
        if len(self.by) == 1:
            key = texts.get(self.by[0])
        else:
            found = [texts.get(name) for name in self.by]
            key = None if None in found else "\x1f".join(found)  # type: ignore[arg-type]
        if key is None:
            self.key = None
            out[self._inputs] = nan
            return
        if len(key) > LONGEST_KEY:
            key = hashlib.blake2b(key.encode(errors="surrogatepass"), digest_size=32).hexdigest()
        self.key = key
        row = self._keys.get(key)
        if row is None or (self._oldest is not None and self._forgets(row)):
            row = self._nobody
        _loops().read_aggregates(
            row, self._of_all, self._reads, self._measures, self._seconds, values, time, out
        )

    def add(self, values: NDArray[np.float64], time: float) -> None:
        """Count the event that was read last, and its label if it is known."""
        if self.key is None:
            return
        row = self._keys.to_learn(self.key)
        if self._oldest is not None and self._forgets(row):
            self._keys.n_forgotten += 1
            row[:] = 0.0
        _loops().add_event(row, self._of_all, self._measures, self._seconds, values, time)

    def count_label(self, key: str, values: NDArray[np.float64]) -> None:
        """Count the label of an earlier event of a key."""
        if not self._labels:
            return
        rows = [self._of_all]
        if self._keys.get(key) is not None:  # of a forgotten one nobody will read it
            rows.append(self._keys.to_learn(key))
        for at, place in self._labels:
            if not isnan(values[place]):
                for row in rows:
                    row[at] += 1.0
                    row[at + 1] += values[place]

    def state(self) -> StateDict:
        """Return what is kept by key, and the labels of all keys."""
        return {"keys": self._keys.state(), "of_all": self._of_all.copy()}

    def described(self) -> dict[str, Any]:
        """Return a `state()`, of which JSON has all but the keys that are in a file."""
        keys = self._keys.state()
        if not STORED.is_of(keys):
            keys = {**keys, "rows": keys["rows"].tolist()}
        return {"keys": keys, "of_all": self._of_all.tolist()}

    def restore(self, state: StateDict) -> None:
        """Continue from a `state()`. Keys that are in a file are not read: `keep_keys_in`."""
        keys = state["keys"]
        if STORED.is_of(keys):
            self.keep_keys_in(KeysElsewhere(keys))
        else:
            self.keep_keys_in(KeysInMemory(self.size, self._most))
            self._keys.restore(keys)
        self._of_all[:] = state["of_all"]


@cache
def _kinds() -> dict[How, tuple[int | None, int]]:
    """Return the measure that each aggregate needs, and what is read of it."""
    loops = _loops()
    return {
        "count": (loops.EVENTS, loops.COUNT),
        "since_last": (None, loops.SINCE_LAST),
        "sum": (loops.SUM, loops.TOTAL),
        "mean": (loops.SUM, loops.MEAN),
        "std": (loops.MOMENTS, loops.STD),
        "min": (loops.EXTREMES, loops.MIN),
        "max": (loops.EXTREMES, loops.MAX),
        "last": (loops.LAST, loops.OF_LAST),
        "distinct": (loops.DISTINCT, loops.N_DISTINCT),
        "ratio_to_mean": (loops.SUM, loops.RATIO),
        "label_mean": (loops.LABELS, loops.LABEL_MEAN),
    }


def _value_of(each: Aggregate) -> tuple[str, str | None]:
    """Return which value of an event it measures: a number, text or label, and its name."""
    kinds = {"label_mean": "label", "distinct": "text", "count": "none", "since_last": "none"}
    return kinds.get(each.how, "number"), each.of


def _bit_of(text: str | None) -> float:
    """Return the bit of a value in a set of distinct ones; nan: it is missing."""
    if text is None:
        return nan
    loops = _loops()
    mixed = zlib.crc32(text.encode(errors="surrogatepass")) * 0x9E3779B1 & 0xFFFFFFFF
    return float(mixed * loops.BITS * loops.WORDS >> 32)
