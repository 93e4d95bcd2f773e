"""`Event`: immutable, and only `x` is required."""

import pytest
from pydantic import ValidationError

from iln_stream.records import Event


def test_frozen():
    """No code can change an event that others will read."""
    event = Event(x={"a": 1.0}, y=2.0)
    with pytest.raises(ValidationError, match="frozen"):
        event.y = 3.0


def test_unlabelled_by_default():
    """Only x is required: an event without a label is predicted."""
    event = Event(x={})
    assert (event.y, event.id, event.timestamp) == (None, None, None)
