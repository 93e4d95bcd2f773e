"""`Forecasts`: labels that are later values of the same stream."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import naive_bayes
from support.heard import Heard
from support.list_source import LIST, ListSource
from support.recording_learners import Recording, RecordingLate

from iln_stream.loop import (
    Classification,
    Details,
    Forecasts,
    Horizon,
    PrequentialLoop,
    RecentIds,
    Regression,
)
from iln_stream.loop import forecasts as module
from iln_stream.loop.forecasts import PresentValue
from iln_stream.records.fields import FieldMapping
from iln_stream.records.mapped import MappedDecoder
from iln_stream.records.parsing import parse_json
from iln_stream.state import from_bytes, to_bytes
from iln_stream.streams import Record

HOUR = 3600.0


@pytest.mark.parametrize(
    ("text", "steps", "seconds"),
    [("24", 24, None), ("90s", None, 90.0), ("15min", None, 900.0), ("24h", None, 86_400.0),
     ("7d", None, 604_800.0)],
)  # fmt: skip
def test_written_horizons(text, steps, seconds):
    """A number is one of records, a number with a unit is a time."""
    assert Horizon.of(text) == Horizon(text, steps, seconds)


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "h", "1 h", "1m", "024", "", "٣"])
def test_texts_that_are_no_horizon(text):
    """Any other text is refused with the forms that exist."""
    with pytest.raises(ValueError, match="is no horizon: give a number of records"):
        Horizon.of(text)


def run(horizon, records, learner=None, *, task=None, restarts=False, levels=(), **more):
    """Run over records (time, fields); after each one, with restarts, go on from the state."""
    task, learner = task or Regression(), learner or Recording()
    mapping = FieldMapping("v", id_field="id", target_is_input=True, lags={"v": [1]})
    labels = "class" if task.name == "classification" else "number"
    pieces = [
        Record(i, json.dumps(fields).encode(), LIST, time)
        for i, (time, fields) in enumerate(records)
    ]

    def begin(state=None):
        late, decoder = (
            Forecasts(Horizon.of(horizon), task, levels),
            MappedDecoder(mapping, parse_json, labels),
        )
        if state is not None:
            late.restore(state["late"])
            decoder.restore(state["decoder"])
        return late, decoder

    late, decoder = begin()
    heard = Heard()
    for piece in [[each] for each in pieces] if restarts else [pieces]:
        PrequentialLoop(
            ListSource(piece), learner, [heard], task=task, late=late, decoder=decoder, **more
        ).run()
        if restarts:
            state = {"late": late.state(), "decoder": decoder.state()}
            late, decoder = begin(from_bytes(to_bytes(state)))
    return heard, late, learner


def predicted(heard):
    return [step for step in heard.steps if not step.late]


def learned(heard):
    return [step for step in heard.steps if step.late]


def hourly(values):
    return [(i * HOUR, {"v": v}) for i, v in enumerate(values)]


@given(st.lists(st.none() | st.integers(-9, 9), max_size=40), st.integers(1, 12), st.booleans())
def test_each_record_is_predicted_and_then_labelled_by_a_later_one(values, steps, restarts):
    """Every record is predicted with inputs up to its own value, and learned with the value that
    comes so many records later, also across restarts; where there is none, it expires."""
    heard, late, learner = run(str(steps), hourly(values), restarts=restarts)
    assert [each.offset for each in predicted(heard)] == list(range(len(values)))
    assert all(each.y is None for each in predicted(heard))
    inputs = [
        {
            **({} if v is None else {"v": float(v)}),
            **({"v.lag_1": float(values[i - 1])} if i and values[i - 1] is not None else {}),
        }
        for i, v in enumerate(values)
    ]
    pairs = [(inputs[i - steps], y) for i, y in enumerate(values) if i >= steps and y is not None]
    assert learner.learned == pairs
    assert not heard.letters
    missing = sum(values[i] is None for i in range(steps, len(values)))
    assert late.n_expired == {"missing": missing, "count": 0}
    assert len(late) == min(steps, len(values))


def test_labels_are_learned_before_the_record_is_predicted():
    """A record is predicted by a learner that knows its value; the published prediction, interval
    and trivial predictions are those that are scored."""
    heard, _, _ = run(
        "2", hourly([5, 6, 7, 8]), details=lambda x: Details(((x["v"] - 1, x["v"] + 1),))
    )
    assert [each.y_pred for each in predicted(heard)] == [5.0, 6.0, 1.0, 2.0]
    first, second = learned(heard)
    assert (first.y, first.y_pred, first.offset, first.time) == (7.0, 5.0, 2, 0.0)
    assert (first.delay, first.details.intervals) == (2 * HOUR, ((4.0, 6.0),))
    assert first.baselines == (5.0, 5.0)
    assert (second.y, second.baselines) == (8.0, (5.5, 6.0))


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("horizon", ["3", "3h"])
def test_the_present_value_is_published_until_a_label_is_known(horizon, restarts):
    """Its interval is that of a random walk; both are scored when the label comes. Where a value is
    missing, the last one takes its place."""
    values = [111.0, 113.0, None, 112.0, 115.0]
    heard, _, _ = run(
        horizon, hourly(values), restarts=restarts, levels=(0.5, 0.9),
        details=lambda x: Details(((-1.0, 1.0), (-1.0, 1.0))),
    )  # fmt: skip
    first = predicted(heard)[:3]
    assert [each.y_pred for each in first] == [111.0, 113.0, 113.0]
    widths = [high - low for each in first for low, high in each.details.intervals]
    z = [0.6745, 1.6449]
    steps = 3.0 if horizon == "3" else 1.0  # before the second record nothing tells how many
    expected = [2.0 * factor * steps**0.5 * 111.0 for factor in z]
    expected += [2.0 * factor * 3.0**0.5 * 2.0 for factor in z]
    assert widths[:4] == pytest.approx(expected, rel=1e-3)
    assert [each.y_pred for each in predicted(heard)[3:]] == [1.0, 2.0]  # the learner's own
    assert [each.y_pred for each in learned(heard)] == [111.0, 113.0]
    assert learned(heard)[0].details.intervals == first[0].details.intervals


def test_constant_values_have_an_interval_all_the_same():
    """Nothing tells how they may change, except for their size."""
    present = PresentValue()
    for t in range(3):
        present.see(0.0, float(t))
    assert present.interval(0.9, Horizon.of("1"), 3.0) == pytest.approx((-1.645, 1.645), abs=1e-3)


def test_tokens():
    """A learner with tokens learns with what it computed at the prediction."""
    _, _, learner = run("2", hourly([5, 6, 7, 8]), RecordingLate())
    assert [(y, token) for _, y, token in learner.learned] == [(7.0, [0.0]), (8.0, [0.0])]


@pytest.mark.parametrize("restarts", [False, True])
def test_the_nearest_record_labels_a_forecast_by_time(restarts):
    """A clock that is seconds early or late does not shift labels by a record."""
    times = [0.0, HOUR - 3, 2 * HOUR + 2, 3 * HOUR, 4 * HOUR - 5, 5 * HOUR]
    records = [(t, {"v": i}) for i, t in enumerate(times)]
    _, late, learner = run("1h", records, restarts=restarts)
    assert [(x["v"], y) for x, y in learner.learned] == [
        (0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (3.0, 4.0), (4.0, 5.0),
    ]  # fmt: skip
    assert late.n_expired["missing"] == 0


@pytest.mark.parametrize("restarts", [False, True])
def test_a_gap_expires_forecasts_by_time(restarts):
    """A value that comes long after the time that was forecast is no label of it."""
    times = [*range(10), *range(40, 90)]
    records = [(t * HOUR, {"v": t}) for t in times]
    _, late, learner = run("2h", records, restarts=restarts)
    assert {y - x["v"] for x, y in learner.learned} == {2.0}
    assert late.n_expired["missing"] == 2
    assert len(learner.learned) + 2 + len(late) == len(times)


def test_a_record_dated_2099_expires_nothing():
    """A single wrong time takes no label from others, and its own forecast waits."""
    records = hourly(range(60))
    records.insert(30, (4e9, {"v": -1}))
    _, late, learner = run("3h", records)
    assert [y - x["v"] for x, y in learner.learned] == [3.0] * 57
    assert late.n_expired["missing"] == 0
    assert len(late) == 4


def test_a_missing_value_between_records_by_time():
    """A record without a value labels nothing; a forecast of it expires."""
    _, late, learner = run("1h", hourly([0, 1, None, *range(3, 50)]))
    assert [(x.get("v"), y) for x, y in learner.learned[:3]] == [
        (0.0, 1.0), (None, 3.0), (3.0, 4.0)
    ]  # fmt: skip
    assert late.n_expired["missing"] == 1


def test_a_forecast_by_time_needs_one():
    """A record without a time is a dead letter that names the remedy."""
    heard, _, _ = run("1h", [(0.0, {"v": 1}), (None, {"v": 2})])
    assert "time: unknown, and the horizon is 1h: set time_field" in heard.letters[0].reason


def test_ids():
    """A record that comes twice is a step once; the label carries the id of the forecast."""
    records = [(i * HOUR, {"v": i, "id": each}) for i, each in enumerate("abbc:")]
    heard, _, learner = run("1", records[:4], recent_ids=RecentIds(9, labelled=False))
    assert heard.repeats == [2]
    assert [y for _, y in learner.learned] == [1.0, 3.0]
    assert [each.event_id for each in learned(heard)] == ["a", "b"]
    heard, _, _ = run("1", [(0, {"v": 0, "id": "a:b"}), (1, {"v": 1})])
    assert learned(heard)[0].event_id == "a:b"


def test_classes():
    """The next class of a stream can be predicted, too; the present one is an input."""
    records = [(i, {"v": "day" if i % 2 else "night"}) for i in range(9)]
    heard, _, _ = run("1", records, naive_bayes.BernoulliNB(), task=Classification(), restarts=True)
    assert predicted(heard)[0].x == {"v=night": 1.0}
    assert predicted(heard)[-1].y_pred["day"] > 0.8


def test_a_learner_that_fails():
    """The record on which the learner fails is a dead letter, and the next one is processed."""

    class Fails(Recording):
        def learn_one(self, x, y):
            if y == 2.0:
                raise ValueError("two")
            super().learn_one(x, y)

    heard, _, learner = run("1", hourly([0, 1, 2, 3, 4]), Fails())
    assert [each.offset for each in heard.letters] == [2]
    assert [y for _, y in learner.learned] == [1.0, 4.0]


def test_at_most_so_many_wait(monkeypatch):
    """Beyond the bound the oldest forecast expires, and is counted."""
    monkeypatch.setattr(module, "MOST", 3)
    for horizon in ("10", "10h"):
        _, late, _ = run(horizon, hourly(range(5)))
        assert (len(late), late.n_expired) == (3, {"missing": 0, "count": 2})
    # The values of those that expired come, and label nothing.
    heard, _, _ = run("10h", hourly(range(14)))
    assert (learned(heard), heard.letters, len(predicted(heard))) == ([], [], 14)


def test_counts_begin_again():
    """After a history is learned, its expired forecasts are not counted in the run."""
    _, late, _ = run("1", hourly([0, None]))
    late.begin_counts()
    found = {each.name: each.read() for each in late.metrics()}
    assert found["iln_pending_expired_total"] == {"missing": 0, "count": 0}
    assert found["iln_pending_events"] == 1
    assert found["iln_pending_bytes"] > 0
