"""The JSON Schemas of the messages."""

import pytest

from iln_stream.records import DeadLetter, Event, Prediction
from iln_stream.records.schemas import FOLDER, as_text, schemas


@pytest.mark.parametrize("name", schemas())
def test_committed_schema_is_current(name):
    """The committed schemas match the code, so every change of the format shows in a diff."""
    assert (FOLDER / name).read_text(encoding="utf-8") == as_text(schemas()[name]), (
        f"{name} is out of date: run python -m iln_stream.records.schemas"
    )


def test_no_stray_schema():
    """Each file in the folder is the schema of a message."""
    assert {file.name for file in FOLDER.iterdir()} == set(schemas())


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("event.v1", Event),
        ("prediction.v2", Prediction),
        ("dead_letter.v1", DeadLetter),
    ],
)
def test_schema_names_every_field(name, model):
    """The schema documents every field of a message."""
    assert set(schemas()[f"{name}.json"]["properties"]) == set(model.model_fields)


def test_fields_of_dead_letters_are_required():
    """Readers can rely on every field, including the version, except for those that letters of
    older releases lack."""
    schema = schemas()["dead_letter.v1.json"]
    assert [*schema["required"], "key", "written"] == list(schema["properties"])


def test_fields_of_some_predictions_are_not_required():
    """A prediction has the fields of its task; the others are always there."""
    schema = schemas()["prediction.v2.json"]
    optional = {"probabilities", "intervals", "explanation", "horizon", "horizon_time", "contender"}
    assert set(schema["required"]) == set(schema["properties"]) - optional


def test_event_schema_is_as_strict_as_decode():
    """The schema refuses unknown fields, requires only x, and allows numbers as times."""
    schema = schemas()["event.v1.json"]
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["x"]
    kinds = [kind["type"] for kind in schema["properties"]["timestamp"]["anyOf"]]
    assert kinds == ["string", "number", "null"]
