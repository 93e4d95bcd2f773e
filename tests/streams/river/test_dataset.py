"""`RiverDatasetSource`: River's (x, y) pairs as events."""

import datetime as dt
from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import datasets
from support.list_source import drained

from iln_stream.records import decode
from iln_stream.streams.river import RiverDatasetSource, calendar

ZONE = dt.timezone(dt.timedelta(hours=5))


def payloads(source):
    return [record.payload for record in drained(source)]


def test_same_events_as_river():
    """Inputs and labels are the same as River's, in the same order."""
    got = drained(RiverDatasetSource(datasets.TrumpApproval(), "TrumpApproval"))
    assert [(r.payload["x"], r.payload["y"]) for r in got] == list(datasets.TrumpApproval())
    assert [record.offset for record in got] == list(range(1001))


@given(st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2200, 1, 1)))
def test_calendar(moment):
    """The numbers for a time agree with `datetime`, in whatever zone; those of a date are of its
    midnight."""
    parts = dict(calendar("t", moment))
    seconds = (moment - dt.datetime(1970, 1, 1)).total_seconds()
    assert parts["t.days"] == pytest.approx(seconds / 86_400, abs=2e-5)
    assert parts["t.month"] == int(f"{moment:%m}")
    assert parts["t.weekday"] == moment.isoweekday() - 1
    assert list(parts.items()) == list(calendar("t", moment.replace(tzinfo=ZONE)))
    midnight = dt.datetime.combine(moment, dt.time())
    assert list(calendar("t", moment.date())) == list(calendar("t", midnight))
    assert parts["t.hour"] == pytest.approx(int(f"{moment:%H}") + moment.minute / 60, abs=1 / 60)


def test_dates_among_inputs():
    """A date becomes numbers with the input's name as prefix; other inputs are unchanged."""
    ((x, _),) = [({"when": dt.datetime(1970, 1, 2, 12), "a": 3, "sky": "clear"}, 0)]
    (payload,) = payloads(RiverDatasetSource([(x, 0)], "s"))
    assert payload["x"] == {
        "when.days": 1.5,
        "when.month": 1,
        "when.weekday": 4,
        "when.hour": 12.0,
        "a": 3,
        "sky": "clear",
    }
    decode(payload)


def test_names_become_text():
    """Numbers as input names become strings, as JSON requires."""
    (payload,) = payloads(RiverDatasetSource([({0: 1.0, 1: 2.0}, 0.0)], "s"))
    assert payload["x"] == {"0": 1.0, "1": 2.0}


@pytest.mark.parametrize(("label", "y"), [(True, 1.0), (False, -1.0), (1, 1), (0, 0), (2.5, 2.5)])
def test_labels(label, y):
    """A boolean label becomes -1 or +1; a number is unchanged."""
    (payload,) = payloads(RiverDatasetSource([({}, label)], "s"))
    assert payload["y"] == y
    assert type(payload["y"]) is type(y)


@pytest.mark.parametrize("n", [0, 500, 501])
def test_exhaustion(n):
    """A stream of any length, including full batches, returns each event once and ends."""
    source = RiverDatasetSource([({"a": i}, i) for i in range(n)], "s")
    assert not source.exhausted
    assert [p["y"] for p in payloads(source)] == list(range(n))
    assert source.poll(0.0) == []
    assert source.exhausted


def test_limit_of_an_endless_stream():
    """An endless stream ends at `limit`, and no further event is drawn."""
    numbers = count()
    source = RiverDatasetSource((({"a": i}, i) for i in numbers), "s", limit=600)
    assert [p["y"] for p in payloads(source)] == list(range(600))
    assert next(numbers) == 600


@pytest.mark.parametrize(
    ("dataset", "limit", "lag"),
    [
        (datasets.TrumpApproval(), 10, 10),
        (datasets.TrumpApproval(), 5000, 1001),
        (datasets.synth.Friedman(seed=1), None, None),
    ],
)
def test_lag(dataset, limit, lag):
    """For a finite stream the lag is known and decreases with each batch."""
    source = RiverDatasetSource(dataset, "s", limit)
    assert source.lag == lag
    handed_out = len(source.poll(0.0))
    assert source.lag == (None if lag is None else lag - handed_out)


@pytest.mark.parametrize("kind", [np.float32, np.bool_])
def test_numpys_numbers(kind):
    """Inputs may be scalars of numpy."""
    (payload,) = payloads(RiverDatasetSource([({"a": kind(1)}, 1.0)], "s"))
    assert decode(payload).x == {"a": 1.0}
