"""`Prediction` and `DeadLetter`: the messages that the service sends."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from iln_stream.events import DeadLetter, Prediction, PredictionEncoder
from iln_stream.events.messages import PAYLOAD_LIMIT


@given(st.binary(), st.integers(0, 2**63 - 1), st.text(st.characters(codec="utf-8")))
def test_dead_letter_round_trip(payload, offset, reason):
    """A dead letter can hold any record, survives JSON, and has the record's hash."""
    letter = DeadLetter.of("events", 3, offset, payload, reason)
    assert DeadLetter.model_validate_json(letter.model_dump_json()) == letter
    assert letter.payload_bytes == len(payload)
    assert letter.payload_sha256 == hashlib.sha256(payload).hexdigest()
    assert not letter.truncated


def test_readable_payload():
    """Text is kept and other bytes are escaped, so that people can read a dead letter."""
    assert DeadLetter.of("s", 0, 0, "größer".encode(), "r").payload == "größer"
    assert DeadLetter.of("s", 0, 0, b"a\xffb", "r").payload == "a\\xffb"


@pytest.mark.parametrize(("size", "truncated"), [(PAYLOAD_LIMIT, False), (PAYLOAD_LIMIT + 1, True)])
def test_truncation(size, truncated):
    """A record above the limit is truncated and marked; size and hash are of the whole record."""
    payload = b"a" * size
    letter = DeadLetter.of("s", 0, 0, payload, "r")
    assert len(letter.payload) == PAYLOAD_LIMIT
    assert letter.truncated is truncated
    assert letter.payload_bytes == size
    assert letter.payload_sha256 == hashlib.sha256(payload).hexdigest()


def test_truncation_within_a_character():
    """Truncation within a character loses that character, not the dead letter."""
    letter = DeadLetter.of("s", 0, 0, b"a" * (PAYLOAD_LIMIT - 1) + "é".encode(), "r")
    assert letter.truncated
    assert letter.payload.endswith("a\\xc3")


def test_version_is_sent():
    """Every message has the version of its format."""
    prediction = Prediction(stream="s", partition=0, offset=7, id=None, y_pred=1.5, y=None)
    assert prediction.model_dump_json() == (
        '{"version":1,"stream":"s","partition":0,"offset":7,"id":null,"y_pred":1.5,"y":null}'
    )
    assert '"version":1' in DeadLetter.of("s", 0, 0, b"", "r").model_dump_json()


texts = st.text(st.characters(codec="utf-8"))
finite = st.floats(allow_nan=False, allow_infinity=False)


@given(texts, st.none() | texts, finite, st.none() | finite)
def test_encoder_writes_predictions(stream, event_id, y_pred, y):
    """Readers get every prediction to the last bit, whatever its names and numbers."""
    text = PredictionEncoder(stream)(3, 2**62, event_id, y_pred, y)
    assert Prediction.model_validate_json(text) == Prediction(
        stream=stream, partition=3, offset=2**62, id=event_id, y_pred=y_pred, y=y
    )
    assert json.loads(text)["y_pred"] == y_pred  # with another parser, too


@given(texts, st.none() | texts, st.none() | st.integers(-999, 999))
def test_encoder_writes_what_pydantic_writes(stream, event_id, y):
    """The encoder and pydantic write the same bytes: fields, order and escapes."""
    prediction = Prediction(stream=stream, partition=3, offset=5, id=event_id, y_pred=0.125, y=y)
    encode = PredictionEncoder(stream)
    assert encode(3, 5, event_id, 0.125, prediction.y) == prediction.model_dump_json().encode()


@pytest.mark.parametrize("wrong", [{"offset": -1}, {"partition": -1}, {"version": 2}])
def test_impossible_places(wrong):
    """Negative positions and unknown versions are refused."""
    right = {"stream": "s", "partition": 0, "offset": 0, "id": None, "y_pred": 0.0, "y": None}
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        Prediction(**{**right, **wrong})
