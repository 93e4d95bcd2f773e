"""Aggregates by key, compared with a list of all events."""

import datetime as dt
import json
import math
import pickle
import re
import statistics
from math import floor, nan

import numpy as np
import pytest
from river import base

from iln_stream import AggregateInputs
from iln_stream.errors import IlnWarning
from iln_stream.learners.keyed import KeyFile, NewestKeys, StoredKeys, key_file
from iln_stream.learners.keyed.aggregates import Aggregate, Aggregates

BY = ("card",)
OF_VALUES = ("sum", "mean", "std", "min", "max", "ratio_to_mean")
WANTED = {
    "since": Aggregate("since_last", BY),
    "last": Aggregate("last", BY, "amount"),
    **{
        f"{how}_{over}": Aggregate(how, BY, None if how == "count" else "amount", over)
        for how in ("count", *OF_VALUES)
        for over in (None, 3_200.0, 50_000.0)
    },
}


def in_window(before, time, over):
    """Return the events of the window of an event at a time, as the docstring says."""
    if over is None:
        return before
    step = over / 16
    newest = max((floor(t / step) for t, _ in before), default=0)
    found, seen = [], -(10**18)
    for t, value in before:
        if floor(t / step) > seen - 16:  # else it came when the window had passed it
            found.append((t, value))
        seen = max(seen, floor(t / step))
    first = max(floor(time / step), newest) - 15
    return [(t, v) for t, v in found if first <= floor(t / step) <= floor(time / step)]


def expected(wanted, before, amount, time):
    """Return the inputs by the list of a key's earlier events."""
    made = {}
    for name, each in wanted.items():
        events = in_window(before, time, each.over)
        values = [value for _, value in events if not math.isnan(value)]
        if each.how == "count":
            made[name] = len(events)
        elif each.how == "since_last":
            made[name] = max(0.0, time - max(t for t, _ in before)) if before else nan
        elif each.how == "sum":
            made[name] = sum(values)
        elif not values:
            continue
        elif each.how == "mean":
            made[name] = statistics.fmean(values)
        elif each.how == "std":
            made[name] = statistics.stdev(values) if len(values) > 1 else nan
        elif each.how == "last":
            made[name] = values[-1]
        elif each.how == "ratio_to_mean":
            made[name] = amount / statistics.fmean(values)
        else:
            made[name] = min(values) if each.how == "min" else max(values)
    return {name: value for name, value in made.items() if not math.isnan(value)}


@pytest.mark.parametrize("seed", range(3))
def test_values_are_those_of_a_list_of_all_events(seed):
    """Every aggregate, with and without a window, of keys that are rare and often seen, with
    missing values, times in order and not, and pauses longer than a window."""
    rng = np.random.default_rng(seed)
    made, before, time = Aggregates(WANTED), {}, 1.7e9
    for _ in range(600):
        time += float(rng.exponential(60.0)) * (1 if rng.random() < 0.99 else 300)
        late = float(rng.exponential(2_000.0)) if rng.random() < 0.1 else 0.0
        card = f"c{int(rng.integers(1, 9)) // int(rng.integers(1, 4))}"
        amount = nan if rng.random() < 0.1 else float(rng.lognormal(3.0, 1.0))
        numbers = {} if math.isnan(amount) else {"amount": amount}
        found = made({"card": card}, numbers, time - late)
        earlier = before.setdefault(card, [])
        assert found == pytest.approx(expected(WANTED, earlier, amount, time - late), rel=1e-9)
        if rng.random() < 0.95:  # else it failed
            made.accept()
            earlier.append((time - late, amount))


def test_distinct_values_are_counted_within_six_per_cent():
    """Linear counting, over a window that forgets: at most 6 % beside the number to 500 values."""
    made = Aggregates({"n": Aggregate("distinct", (), "shop", 16_000.0)})
    for n in (5, 50, 200, 500):
        for i in range(3 * n):
            made({"shop": f"{n}-{i % n}"}, {}, 20_000.0 * n)
            made.accept()
        assert made({}, {}, 20_000.0 * n)["n"] == pytest.approx(n, rel=0.06, abs=0.5)


def test_an_event_does_not_see_itself_or_its_label():
    """Inputs of an event are the same whatever its own label and value are, except for the ratio,
    which is of the present value: nothing leaks."""
    wanted = {**WANTED, "label": Aggregate("label_mean", BY)}
    del (
        wanted["ratio_to_mean_None"],
        wanted["ratio_to_mean_3200.0"],
        wanted["ratio_to_mean_50000.0"],
    )
    found = []
    for amount, y in ((1.0, 0.0), (1e9, 1.0)):
        made = Aggregates(wanted)
        for i in range(20):
            made({"card": f"c{i % 3}"}, {"amount": float(i)}, 100.0 * i)
            made.accept(f"e{i}", float(i % 2))
        found.append(made({"card": "c1"}, {"amount": amount}, 2_000.0))
        made.accept("own", y)
    assert found[0] == found[1]


def test_label_means_know_late_labels_when_they_come():
    """A label counts for the key of its event, from the moment at which it comes, shrunk to the
    mean of all labels by ten; a label of an unknown event counts for none."""
    made = Aggregates({"rate": Aggregate("label_mean", BY)}, waiting=2)
    for i, y in enumerate([1.0, 0.0, 0.0]):
        made({"card": "a" if i == 0 else "b"}, {}, float(i))
        made.accept(f"e{i}", y)
    assert made({"card": "a"}, {}, 3.0)["rate"] == (1.0 + 10 / 3) / 11
    made.accept("late")
    before = made({"card": "a"}, {}, 4.0)
    made.label("late", 1.0)
    made.label("late", 1.0)
    made.label("unknown", 1.0)
    assert before["rate"] == (1.0 + 10 / 3) / 11
    assert made({"card": "a"}, {}, 5.0)["rate"] == (2.0 + 10 * 2 / 4) / 12
    for i in range(3):
        made({"card": "a"}, {}, 6.0)
        made.accept(f"w{i}")
    made.label("w0", 1.0)  # only two may wait
    assert made({"card": "a"}, {}, 5.0)["rate"] == (2.0 + 10 * 2 / 4) / 12


def test_the_share_of_a_class_that_is_a_text():
    """`of` names the class; without it a text has no mean, and a warning says so once."""
    made = Aggregates(
        {"lost": Aggregate("label_mean", BY, "lost"), "mean": Aggregate("label_mean")}
    )
    with pytest.warns(IlnWarning, match="set of to the class") as warned:
        for y in ("lost", "kept"):
            made({"card": "a"}, {}, 0.0)
            made.accept("e", y)
    assert len(warned) == 1
    assert made({"card": "a"}, {}, 0.0) == {"lost": 0.5}


@pytest.mark.parametrize(("labels", "name"), [([True, False], "true"), ([3.0, 2.0], "3")])
def test_the_share_of_a_class_that_is_no_text(labels, name):
    """Settings name a class by its text, whatever type it has."""
    made = Aggregates({"share": Aggregate("label_mean", BY, name)})
    for y in labels:
        made({"card": "a"}, {}, 0.0)
        made.accept("e", y)
    assert made({"card": "a"}, {}, 0.0) == {"share": 0.5}


def test_keys_are_bounded_and_counted():
    """The key whose last event is the oldest makes room; a forgotten key begins anew."""
    wanted = {"n": Aggregate("count", BY), "n2": Aggregate("count", ("card", "shop"))}
    made = Aggregates(wanted, most=2)
    for card in "abac":
        made({"card": card}, {}, 0.0)
        made.accept()
    counts = {card: made({"card": card}, {}, 0.0)["n"] for card in "abc"}
    assert counts == {"a": 2.0, "b": 0.0, "c": 1.0}
    assert {spec.name: spec.read() for spec in made.metrics()} == {
        "iln_kept_keys": {("aggregates",): 2},
        "iln_key_evictions_total": {("aggregates",): 1},
        "iln_aggregate_keys_forgotten_total": 0,
    }


def test_long_keys_take_bounded_memory():
    """Keys of a megabyte are told apart, and kept as short texts."""
    made = Aggregates({"n": Aggregate("count", ("card", "shop"))})
    keys = [{"card": "x" * 1_000_000, "shop": shop} for shop in "aab"]
    found = []
    for key in keys:
        found.append(made(key, {}, 0.0)["n"])
        made.accept()
    assert found == [0.0, 1.0, 0.0]
    assert max(len(key) for group in made.state()["groups"] for key in group["keys"]["keys"]) < 100


def test_a_restored_state_goes_on_bit_for_bit():
    """Also with keys in another order than by their first event, and labels that wait."""
    wanted = {
        **WANTED,
        "label": Aggregate("label_mean", BY),
        "shops": Aggregate("distinct", BY, "shop", 1_000.0),
    }
    rng = np.random.default_rng(1)
    events = [
        ({"card": f"c{rng.integers(9)}", "shop": f"s{rng.integers(9)}"},
         {"amount": float(rng.normal())}, 6_000.0 * i, f"e{i}")
        for i in range(400)
    ]  # fmt: skip

    def run(made, events):
        found = []
        for i, (texts, numbers, time, name) in enumerate(events):
            found.append(made(texts, numbers, time))
            made.accept(name, None if i % 3 else 1.0)
            if i > 5:
                made.label(events[i - 5][-1], float(i % 2))
        return found

    whole, first, second = (Aggregates(wanted, 10, forget_keys_after=50_000.0) for _ in range(3))
    run(whole, events[:200])
    run(first, events[:200])
    second.restore(first.state())
    assert run(second, events[200:]) == run(whole, events[200:])


def test_a_pipeline_has_the_same_inputs_as_a_run():
    """In River's pipeline an event is not among its own earlier events, nor is its label, also
    where the pipeline is pickled in between."""
    wanted = {**WANTED, "rate": Aggregate("label_mean", BY)}
    keep, made = Keep(), Aggregates(wanted)
    model = AggregateInputs(wanted, "at") | keep
    rng = np.random.default_rng(4)
    for i in range(60):
        card, amount, at = f"c{rng.integers(3)}", float(rng.normal()), 900.0 * i
        time = dt.datetime.fromtimestamp(at, dt.UTC)
        x = {"card": card, "amount": amount, "at": time.isoformat() if i % 3 else time}
        model.predict_one(x)
        model.learn_one(x, float(i % 2))
        assert model["Keep"].seen == made({"card": card}, {"amount": amount}, at)
        made.accept(None, float(i % 2))
        model = pickle.loads(pickle.dumps(model))


class Keep(base.Regressor):
    """Remembers the inputs that it learned."""

    def predict_one(self, x):
        return 0.0

    def learn_one(self, x, y):
        self.seen = x


@pytest.mark.parametrize(
    ("x", "problem"),
    [
        ({"card": "a"}, "at: expected POSIX seconds"),
        ({"at": 0, "amount": "1"}, "amount: aggregates"),
    ],
)
def test_a_record_of_a_pipeline_that_lacks_what_is_needed(x, problem):
    """The error names the field."""
    with pytest.raises(ValueError, match=problem):
        AggregateInputs(WANTED, "at").transform_one(x)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"how": "median", "of": "a"}, "how: 'median' is not among count"),
        ({"how": "sum"}, "of: sum needs the name of a field"),
        ({"how": "count", "of": "a"}, "of: count is of events"),
        ({"how": "last", "of": "a", "over": 60.0}, "over: last takes no window"),
        ({"how": "count", "over": 0.0}, "over: 0.0 seconds must be above 0"),
    ],
)
def test_wrong_aggregates_are_refused(given, problem):
    """The error names the part that is wrong."""
    with pytest.raises(ValueError, match=re.escape(problem)):
        Aggregate(**given)


DAY = 86_400.0
AGED = {"n": Aggregate("count", BY), "rate": Aggregate("label_mean", BY)}


def aged(age=DAY, **more):
    """Aggregates that forget keys after a day, and a function that gives them an event."""
    made = Aggregates(AGED, waiting=100, forget_keys_after=age, **more)

    def event(card, time, name=None, y=None):
        found = made({"card": card}, {}, time)
        made.accept(name, y)
        return found["n"]

    return made, event


def test_a_key_is_forgotten_by_the_clock_of_the_events():
    """A key begins anew when its newest event is more than the age behind the clock; neither late
    events nor four dates of 2099 among nine move the clock, five do; a key without an event for
    less than the age stays."""
    _, event = aged()
    far = 4_070_908_800.0
    for i in range(20):
        event("other", 60.0 * i, y=0.0)
    assert [event("a", 1_200.0), event("a", 1_260.0)] == [0.0, 1.0]
    for i in range(40):  # late ones, and each third from 2099
        event("other", far if i % 3 == 0 else 1_300.0 - 600.0 * i)
    assert event("a", 1_320.0) == 2.0
    for _i in range(9):
        event("other", 1_320.0 + DAY)
    assert event("a", 1_320.0 + DAY) == 3.0
    for _i in range(9):
        event("other", 1_321.0 + 2 * DAY)
    assert event("a", 2_000.0) == 0.0  # a late one is forgotten again
    assert [event("a", 1_400.0 + 2 * DAY), event("a", 1_400.0 + 2 * DAY)] == [0.0, 1.0]
    for _i in range(9):
        event("other", far)
    assert event("a", 1_500.0 + 2 * DAY) == 0.0


def test_a_late_label_of_a_forgotten_key_counts_for_all_keys():
    """It changes the mean of all keys, and leaves the key as one without labels."""
    made, event = aged()
    event("a", 0.0, "late")
    for _i in range(9):
        event("b", DAY + 1.0, y=0.0)
    made.label("late", 1.0)
    found = {card: made({"card": card}, {}, DAY + 1.0)["rate"] for card in ("a", "new")}
    assert found == {"a": 0.1, "new": 0.1}


def test_forgotten_keys_leave_memory():
    """Memory has the keys of the last day, whatever the number of keys; those that left, or came
    back, are counted."""
    made, event = aged(age=3_600.0)
    for i in range(3_000):
        event(f"c{i}", 60.0 * i)
    assert len(made.groups[0].keys) < 70
    metrics = {spec.name: spec.read() for spec in made.metrics()}
    assert metrics["iln_key_evictions_total"] == {("aggregates",): 0}
    assert metrics["iln_aggregate_keys_forgotten_total"] > 2_900


def test_a_pipeline_forgets_as_a_run_does():
    """The transformer of a River pipeline has the same rule."""
    model, (_, event), found = AggregateInputs(AGED, "at", forget_keys_after=DAY), aged(), []
    for i in range(60):
        x = {"card": f"c{i * i % 7}", "at": 100_000.0 * i}
        found.append(model.transform_one(x)["n"])
        model.learn_one(x, 1.0)
        assert found[-1] == event(x["card"], x["at"], y=1.0)
    assert found[45:48] == [0.0, 1.0, 13.0]


def test_a_reader_of_the_files_forgets_by_the_published_clock(tmp_path):
    """Another process, such as `serve`, has the clock with what is published."""
    made, event = aged()
    keys = StoredKeys(KeyFile(tmp_path / "keys.db", 1), made.groups[0].size, 5)
    made.groups[0].keep_keys_in(keys)
    for i in range(10):
        event("b" if i else "a", i * DAY / 4)
    keys.capture()()
    read = Aggregates.of_description(json.loads(json.dumps(made.described())))
    (group,) = read.groups
    file = KeyFile(tmp_path / "keys.db")
    group.keep_keys_in(NewestKeys(file, group.keys.state(), group.size))
    assert [read({"card": card}, {}, DAY)["n"] for card in "ab"] == [0.0, 9.0]
    keys.close()


def counts_of(events, age):
    """Each event's earlier events by the rule: the key's, since it was last forgotten."""
    kept, times, clock, found = {}, [], -math.inf, []
    for card, time, *_ in events:
        n, newest = kept.get(card, (0, -math.inf))
        if newest < clock - age:
            n, newest = 0, -math.inf
        found.append(n)
        kept[card] = n + 1, max(newest, time)
        times = [*times[-8:], time]
        clock = max(clock, statistics.median(times)) if len(times) == 9 else clock
    return found


def test_removal_of_forgotten_keys_changes_no_input(tmp_path, monkeypatch):
    """With few keys in memory, and ends of keys written and removed all the time: inputs are those
    of a run in memory that removes none, also after kills, from the newest snapshot or the one
    before, and from a learner that begins anew."""
    monkeypatch.setattr(key_file, "_WRITTEN_AT_ONCE", 4)
    rng = np.random.default_rng(3)
    events = []
    for i in range(6_000):
        card = f"c{i // 20 + int(rng.integers(30))}" if rng.random() < 0.9 else f"o{i % 700}"
        time = 20.0 * i - (float(rng.exponential(3_000.0)) if rng.random() < 0.1 else 0.0)
        events.append((card, 4_070_908_800.0 if rng.random() < 0.001 else time, f"e{i}", i % 3))

    def run(made, numbers):
        for i in numbers:
            card, time, name, y = events[i]
            found[i] = made({"card": card}, {}, time)
            made.accept(name, float(y) if y else None)
            if i > 500:
                made.label(events[i - 500][2], 1.0)

    found: dict[int, dict] = {}
    whole, _ = aged(3_600.0)
    run(whole, range(len(events)))
    expected, found = found, {}
    snapshots, begin, n_kills = [(0, None)], 0, 0
    keys, n_forgotten = None, 0
    while begin < len(events):
        if keys is None or rng.random() < 0.1:
            if keys is not None:  # killed
                n_kills, n_forgotten = n_kills + 1, n_forgotten + keys.n_forgotten
                keys._threads.shutdown()
                keys._file.close()
                snapshots = (
                    snapshots[:-1] if len(snapshots) > 1 and rng.random() < 0.5 else snapshots
                )
            begin, state = snapshots[-1]
            made, _ = aged(3_600.0)
            group, file = made.groups[0], KeyFile(tmp_path / "keys.db", n_kills + 1)
            if state is None:
                keys = StoredKeys(file, group.size, 5, 2)
            else:
                made.restore(state)
                keys = StoredKeys(file, group.size, 5, 2, group.keys.state())
            group.keep_keys_in(keys)
        run(made, range(begin, min(begin + 40, len(events))))
        begin += 40
        snapshots = [*snapshots[-1:], (begin, made.state())]
        keys.capture()()
        keys.stored()
    assert found == expected
    assert [each["n"] for each in expected.values()] == counts_of(events, 3_600.0)
    assert n_kills > 5
    assert n_forgotten > 500
    assert len(keys) < 150
    keys.close()
