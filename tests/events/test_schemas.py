"""The JSON Schemas that others build on."""

import pytest

from iln_stream.events import DeadLetter, Event, Prediction
from iln_stream.events.schemas import FOLDER, as_text, schemas


@pytest.mark.parametrize("name", schemas())
def test_committed_schema_is_current(name):
    """A change in the wire format shows in the diff, and the package ships what it speaks."""
    assert (FOLDER / name).read_text(encoding="utf-8") == as_text(schemas()[name]), (
        f"{name} is out of date: run python -m iln_stream.events.schemas"
    )


def test_no_stray_schema():
    """Each file in the folder is one of a model."""
    assert {file.name for file in FOLDER.iterdir()} == set(schemas())


@pytest.mark.parametrize(
    ("name", "model"),
    [("event", Event), ("prediction", Prediction), ("dead_letter", DeadLetter)],
)
def test_schema_names_every_field(name, model):
    """Nothing of a message goes undocumented."""
    assert set(schemas()[f"{name}.v1.json"]["properties"]) == set(model.model_fields)


@pytest.mark.parametrize("name", ["prediction", "dead_letter"])
def test_what_we_send_is_promised(name):
    """Every field of our own messages, the version too, may be relied upon."""
    schema = schemas()[f"{name}.v1.json"]
    assert schema["required"] == list(schema["properties"])


def test_event_schema_is_as_strict_as_decode():
    """Unknown fields are refused, only x is required, and times may be numbers."""
    schema = schemas()["event.v1.json"]
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["x"]
    kinds = [kind["type"] for kind in schema["properties"]["timestamp"]["anyOf"]]
    assert kinds == ["string", "number", "null"]
