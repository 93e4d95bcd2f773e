"""The messages that the service sends, and their JSON Schemas."""

import hashlib
import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from json_schemas import FOLDER, as_text, schemas
from pydantic import ValidationError

from iln_stream.records import DeadLetter, Prediction, PredictionEncoder, read_prediction
from iln_stream.records.messages import KEY_LIMIT, PAYLOAD_LIMIT, Model


@given(st.binary(), st.integers(0, 2**63 - 1), st.text(st.characters(codec="utf-8")))
@example(b"", 0, "a decoder's error quotes half a character: \ud83d")
def test_dead_letter_round_trip(payload, offset, reason):
    """A dead letter can hold any record, survives JSON, and has the record's hash."""
    letter = DeadLetter.of("events", 3, offset, payload, reason)
    assert DeadLetter.model_validate_json(letter.model_dump_json()) == letter
    assert letter.payload_bytes == len(payload)
    assert letter.payload_sha256 == hashlib.sha256(payload).hexdigest()
    assert not letter.truncated


@pytest.mark.parametrize(("size", "truncated"), [(PAYLOAD_LIMIT, False), (PAYLOAD_LIMIT + 1, True)])
def test_truncation(size, truncated):
    """A record above the limit is truncated and marked; size and hash are of the whole record. Text
    is kept and other bytes are escaped, also those of a character that was truncated."""
    payload = b"a" * size
    letter = DeadLetter.of("s", 0, 0, payload, "r")
    assert len(letter.payload) == PAYLOAD_LIMIT
    assert letter.truncated is truncated
    assert letter.payload_bytes == size
    assert letter.payload_sha256 == hashlib.sha256(payload).hexdigest()
    letter = DeadLetter.of("s", 0, 0, b"a" * (PAYLOAD_LIMIT - 1) + "é".encode(), "r")
    assert letter.truncated
    assert letter.payload.endswith("a\\xc3")
    assert DeadLetter.of("s", 0, 0, "größer".encode(), "r").payload == "größer"


@pytest.mark.parametrize(
    ("key", "kept"),
    [
        ("größer", True),
        ("k" * KEY_LIMIT, True),
        ("k" * (KEY_LIMIT + 1), False),
        ("\udcff", False),
        (None, False),
    ],
)
def test_the_key_of_a_record(key: str | None, kept: bool) -> None:
    """A letter has its record's key, but no key that JSON can't hold or that may be of any size;
    letters of older releases have none."""
    letter = DeadLetter.of("s", 0, 0, b"", "r", key)
    assert letter.key == (key if kept else None)
    assert DeadLetter.model_validate_json(letter.model_dump_json()) == letter
    old = letter.model_dump(exclude={"key"})
    assert DeadLetter.model_validate(old).key is None


texts = st.text(st.characters(codec="utf-8"))
finite = st.floats(allow_nan=False, allow_infinity=False)
classes = st.booleans() | st.integers(-(2**53), 2**53) | texts
probabilities = st.dictionaries(classes, st.floats(0, 1), max_size=4)
MODEL = Model(name='m"ü', version="5f3a")


def encoded(y_pred, y=None, *, key=None, intervals=(), levels=()):
    encode = PredictionEncoder("s", MODEL.name, MODEL.version, levels)
    return encode(3, 2**62, "e", 60.0, key, y_pred, y, intervals)


def expected(y_pred, y=None, **more):
    given = {"partition": 3, "offset": 2**62, "id": "e", "time": 60.0, "key": None, "y": y, **more}
    return Prediction(version=2, stream="s", model=MODEL, y_pred=y_pred, **given)


@given(texts, st.none() | texts, st.none() | texts, st.none() | finite, finite, st.none() | finite)
def test_encoder_writes_predictions(stream, event_id, key, time, y_pred, y):
    """Readers get every prediction to the last bit, whatever its names and numbers."""
    text = PredictionEncoder(stream, "m", "v")(3, 2**62, event_id, time, key, y_pred, y)
    assert read_prediction(text) == Prediction(
        version=2, stream=stream, partition=3, offset=2**62, id=event_id, time=time, key=key,
        model=Model(name="m", version="v"), y_pred=y_pred, y=y,
    )  # fmt: skip
    assert json.loads(text)["y_pred"] == y_pred  # with another parser, too


@given(finite, st.dictionaries(texts, finite, max_size=3))
def test_encoder_writes_explanations(baseline, contributions):
    """Readers get the baseline and every contribution, whatever the inputs' names."""
    encode = PredictionEncoder("s", MODEL.name, MODEL.version)
    text = encode(3, 2**62, "e", 60.0, None, 1.5, None, (), (baseline, contributions))
    assert read_prediction(text).explanation.model_dump() == {
        "baseline": baseline,
        "contributions": contributions,
    }


@given(finite, texts)
def test_encoder_writes_contenders(y_pred, version):
    """With challengers, a prediction names the contender that made it, and that one's version; it
    may have what others predicted, numbers or the most probable class."""
    encode = PredictionEncoder("s", MODEL.name, MODEL.version, versions={'l"i': version})
    others = {"c": {"a": 0.25, True: 0.75}, 'd"': -0.0}
    text = encode(3, 2**62, "e", 60.0, None, y_pred, None, contender='l"i', challengers=others)
    model = Model(name=MODEL.name, version=version)
    said = {"c": True, 'd"': -0.0}
    want = expected(y_pred, contender='l"i', challengers=said).model_copy(update={"model": model})
    assert read_prediction(text) == want
    assert list(json.loads(text)) == list(json.loads(want.model_dump_json(exclude_unset=True)))


@given(probabilities, st.none() | classes)
def test_encoder_writes_what_pydantic_writes(y_pred, y):
    """The encoder and pydantic write the same bytes: fields, order and escapes. Classes keep their
    type: true, 1 and "1" are three classes to a reader."""
    best = max(y_pred, key=y_pred.get, default=None)
    found = [{"class": c, "p": p} for c, p in y_pred.items()]
    of_class = expected(best, y, probabilities=found)
    assert read_prediction(encoded(y_pred, y)) == of_class
    written = json.loads(encoded(y_pred, y))
    kinds = [type(each["class"]) for each in written["probabilities"]]
    assert kinds == [type(each) for each in y_pred]
    assert (type(written["y"]), type(written["y_pred"])) == (type(y), type(best))
    in_full = of_class.model_dump_json(by_alias=True, exclude_unset=True).encode()
    assert encoded(y_pred, y) == in_full


def test_intervals():
    """Each level has its interval, by the level's shortest text."""
    text = encoded(1.0, levels=(0.9, 0.5), intervals=((-1.5, 2.0), (0.5, 1.25)))
    intervals = {"0.9": (-1.5, 2.0), "0.5": (0.5, 1.25)}
    assert read_prediction(text) == expected(1.0, intervals=intervals)


def test_a_key_of_other_bytes():
    """A key whose bytes are not UTF-8 is escaped; a JSON text can't have them."""
    key = b"caf\xe9-\xc3\xa9".decode(errors="surrogateescape")
    assert read_prediction(encoded(1.0, key=key)).key == "caf\\xe9-é"


def test_classes_of_numpy():
    """A learner's NumPy scalars are written as the numbers and booleans that they are."""
    found = read_prediction(encoded({np.bool_(True): 0.75, np.int64(3): 0.25}))
    assert [each.label for each in found.probabilities] == [True, 3]


@pytest.mark.parametrize(
    "wrong", [{"offset": -1}, {"partition": -1}, {"version": 1}, {"version": 3}]
)
def test_impossible_places_and_versions(wrong):
    """Negative positions and unknown versions are refused."""
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        read_prediction(json.dumps(json.loads(encoded(0.0)) | wrong))


@pytest.mark.parametrize("name", schemas())
def test_committed_schema_is_current(name):
    """The committed schemas match the code, so every change of the format shows in a diff."""
    assert (FOLDER / name).read_text(encoding="utf-8") == as_text(schemas()[name]), (
        f"{name} is out of date: run make docs"
    )
    assert {file.name for file in FOLDER.iterdir()} == set(schemas())


def test_what_readers_can_rely_on():
    """Fields of messages are required, except for those of some tasks and those that letters of
    older releases lack; the schema of events is as strict as `decode`."""
    letter = schemas()["dead_letter.v1.json"]
    assert [*letter["required"], "key", "written"] == list(letter["properties"])
    prediction = schemas()["prediction.v2.json"]
    optional = {"probabilities", "intervals", "quantiles", "explanation"}
    optional |= {"horizon", "horizon_time", "series", "contender", "challengers"}
    assert set(prediction["required"]) == set(prediction["properties"]) - optional
    event = schemas()["event.v1.json"]
    assert (event["additionalProperties"], event["required"]) == (False, ["x"])
    kinds = [kind["type"] for kind in event["properties"]["timestamp"]["anyOf"]]
    assert kinds == ["string", "number", "null"]
