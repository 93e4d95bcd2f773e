"""`Prediction` and `DeadLetter`: what we send out."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from iln_stream.events import DeadLetter, Prediction
from iln_stream.events.messages import PAYLOAD_LIMIT


@given(st.binary(), st.integers(0, 2**63 - 1), st.text(st.characters(codec="utf-8")))
def test_dead_letter_round_trip(payload, offset, reason):
    """Any record fits into a dead letter that survives JSON, and its hash is the record's."""
    letter = DeadLetter.of("events", 3, offset, payload, reason)
    assert DeadLetter.model_validate_json(letter.model_dump_json()) == letter
    assert letter.payload_bytes == len(payload)
    assert letter.payload_sha256 == hashlib.sha256(payload).hexdigest()
    assert not letter.truncated


def test_readable_payload():
    """Text stays as it came and other bytes are escaped, so that a person can read a letter."""
    assert DeadLetter.of("s", 0, 0, "größer".encode(), "r").payload == "größer"
    assert DeadLetter.of("s", 0, 0, b"a\xffb", "r").payload == "a\\xffb"


@pytest.mark.parametrize(("size", "truncated"), [(PAYLOAD_LIMIT, False), (PAYLOAD_LIMIT + 1, True)])
def test_truncation(size, truncated):
    """A record beyond the limit is cut there, and said to be; size and hash are the whole's."""
    payload = b"a" * size
    letter = DeadLetter.of("s", 0, 0, payload, "r")
    assert len(letter.payload) == PAYLOAD_LIMIT
    assert letter.truncated is truncated
    assert letter.payload_bytes == size
    assert letter.payload_sha256 == hashlib.sha256(payload).hexdigest()


def test_truncation_within_a_character():
    """A cut through a character costs that character, not the letter."""
    letter = DeadLetter.of("s", 0, 0, b"a" * (PAYLOAD_LIMIT - 1) + "é".encode(), "r")
    assert letter.truncated
    assert letter.payload.endswith("a\\xc3")


def test_version_is_sent():
    """A reader can tell the format from every message."""
    prediction = Prediction(stream="s", partition=0, offset=7, id=None, y_pred=1.5, y=None)
    assert prediction.model_dump_json() == (
        '{"version":1,"stream":"s","partition":0,"offset":7,"id":null,"y_pred":1.5,"y":null}'
    )
    assert '"version":1' in DeadLetter.of("s", 0, 0, b"", "r").model_dump_json()


@pytest.mark.parametrize("wrong", [{"offset": -1}, {"partition": -1}, {"version": 2}])
def test_impossible_places(wrong):
    """No message claims a place or a format that doesn't exist."""
    right = {"stream": "s", "partition": 0, "offset": 0, "id": None, "y_pred": 0.0, "y": None}
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        Prediction(**{**right, **wrong})
