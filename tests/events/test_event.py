"""`Event`: what may not happen to one after it was read."""

import pytest
from pydantic import ValidationError

from iln_stream.events import Event


def test_frozen():
    """Nobody on an event's way changes it for those behind."""
    event = Event(x={"a": 1.0}, y=2.0)
    with pytest.raises(ValidationError, match="frozen"):
        event.y = 3.0


def test_unlabelled_by_default():
    """Only x has to be there: an event without label is one to predict."""
    event = Event(x={})
    assert (event.y, event.id, event.timestamp) == (None, None, None)
