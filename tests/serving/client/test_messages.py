"""What the client sends, as JSON."""

import datetime as dt
import json

import numpy as np
import pytest

from iln_stream.records import Event, Label
from iln_stream.serving.client_messages import (
    NewEvent,
    NewLabel,
    encoded,
    event_fields,
    inputs,
    label_fields,
)

NOON = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)


@pytest.mark.parametrize("timestamp", [NOON, NOON.timestamp(), None])
def test_an_event_is_read_as_it_was(timestamp):
    """The service decodes exactly what was given, numpy's numbers too."""
    event = NewEvent(
        {"a": np.float32(1.5), "n": np.int64(7), "on": np.bool_(True), "sky": "blau ü", "b": None},
        2.5,
        "e1",
        timestamp,
        np.float64(0.5),
    )
    found = Event.model_validate_json(encoded("", event_fields(event)))
    assert found.x == {"a": 1.5, "n": 7, "on": True, "sky": "blau ü", "b": None}
    assert (found.y, found.id, found.weight) == (2.5, "e1", 0.5)
    assert found.timestamp == (None if timestamp is None else NOON)


def test_what_is_unknown_is_left_out():
    """Fields that were not given are not sent."""
    assert json.loads(encoded("", event_fields({"a": 1.0}))) == {"x": {"a": 1.0}}
    assert json.loads(encoded("", event_fields(NewEvent({}, y=0.0)))) == {"x": {}, "y": 0.0}


def test_a_label_is_read_as_it_was():
    """The service decodes exactly what was given."""
    found = Label.model_validate_json(encoded("", label_fields(NewLabel("e1", 0.0, NOON, 0.0))))
    assert found == Label(id="e1", y=0.0, timestamp=NOON, weight=0.0)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ({"a": float("nan")}, r"xs\[3\]\.x\.a = nan: must be finite"),
        ({"b": 1.0, "a": np.float32("inf")}, r"xs\[3\]\.x\.a = inf: must be finite"),
        ({"a": {1}}, r"xs\[3\]\.x\.a = \{1\}: must be a number, a bool, a str or None"),
        ({"a": np.zeros(2)}, r"xs\[3\]\.x\.a = array\(.*must be a number"),
        ({"a": "\ud800"}, r"xs\[3\]: .*surrogates not allowed"),
    ],
)
def test_values_that_are_no_inputs(x, message):
    """An error names the event and the input."""
    with pytest.raises(ValueError, match=message):
        encoded("xs[3]", {"x": inputs(x)})


def test_names_are_text():
    """JSON would turn a number into text, and the learner would learn another input."""
    with pytest.raises(ValueError, match="the name 1 must be a str"):
        inputs({1: 2.0})


def test_a_time_without_an_offset():
    """It would be another time elsewhere."""
    with pytest.raises(ValueError, match="has no UTC offset"):
        event_fields(NewEvent({}, timestamp=dt.datetime(2026, 1, 31)))
