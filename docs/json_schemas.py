"""Writes the JSON Schemas of all messages, which the package contains."""

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from iln_stream.records.messages import DeadLetter, Event, Label, Prediction

FOLDER = Path(__file__).parents[1] / "iln_stream" / "records" / "schemas"

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, dict[str, Any]]:
    """Return the schemas by file name: of the messages that the service reads and sends."""
    return {
        "event.v1.json": _schema(Event, "iln_stream event, version 1", read=True),
        "label.v1.json": _schema(Label, "iln_stream label, version 1", read=True),
        "prediction.v2.json": _schema(Prediction, "iln_stream prediction, version 2"),
        "dead_letter.v1.json": _schema(DeadLetter, "iln_stream dead letter, version 1"),
    }


def as_text(schema: dict[str, Any]) -> str:
    """Return the content of a schema's file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _schema(model: type[BaseModel], title: str, read: bool = False) -> dict[str, Any]:
    schema = model.model_json_schema(mode="validation" if read else "serialization")
    return {"$schema": _DIALECT, **schema, "title": title}


def main() -> None:
    """Write the files."""
    FOLDER.mkdir(exist_ok=True)
    for name, schema in schemas().items():
        (FOLDER / name).write_text(as_text(schema), encoding="utf-8")


if __name__ == "__main__":
    main()
