"""The description of the API, as OpenAPI 3.1."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from iln_stream.api.messages import EVENTS, LABELS, ErrorAnswer, PredictBatch, PredictOne, Promotion
from iln_stream.api.settings import ApiSettings

_REFERENCES = "#/components/schemas/{model}"

ERRORS = {
    400: "The request is not valid HTTP or JSON, or has a key twice in an object.",
    401: "The bearer token is missing or unknown.",
    404: "There is no such path, no model of this name, or no log to append to.",
    405: "The path has no such method.",
    408: "The client took too long to send its request.",
    411: "The body's length is not given.",
    413: "The body, or the batch, is too large.",
    415: "The body is not application/json.",
    421: "The header Host is not a name of this host.",
    422: "A field is missing, unknown or not valid.",
    429: "The client sends too many requests, or events arrive faster than they are appended or "
    "learned. Retry-After says when to try again.",
    431: "The headers are too large.",
    503: "No model is published yet, the log can't be written to, or too many requests are in "
    "progress. Retry-After says when to try again.",
}
OF_ALL = (400, 401, 405, 408, 421, 429, 431, 503)
OF_BODIES = (*OF_ALL, 411, 413, 415, 422)


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the description of these errors, for a route."""
    retry = {
        "Retry-After": {"schema": {"type": "integer"}, "description": "Seconds to wait."},
    }
    return {
        status: {
            "model": ErrorAnswer,
            "description": ERRORS[status],
            **({"headers": retry} if status in (429, 503) else {}),
        }
        for status in sorted(statuses)
    }


def describe(app: FastAPI, settings: ApiSettings, task: str | None, secured: bool) -> Any:
    """Return the description.

    Parameters
    ----------
    app
        Its routes are described.
    settings
        Limits.
    task
        Task of the published models, which says what a label is; None: not known.
    secured
        Whether requests need a token.

    """
    found = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    bodies: dict[str, tuple[type[BaseModel], ...]] = {
        "/predict": (PredictOne, PredictBatch),
        "/events": EVENTS[task],
        "/feedback": LABELS[task],
        "/promote": (Promotion,),
    }
    schemas = found.setdefault("components", {}).setdefault("schemas", {})
    for path, models in bodies.items():
        references = [_register(model, schemas, settings.batch_events) for model in models]
        found["paths"][path]["post"]["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": {"oneOf": references}}},
        }
    found["paths"]["/model"]["get"]["parameters"] = [
        {
            "name": "model",
            "in": "query",
            "description": "Name of the model; needed if several are published.",
            "schema": {"type": "string"},
        }
    ]
    if secured:
        found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        found["security"] = [{"token": []}]
        for probe in ("/live", "/ready"):
            found["paths"][probe]["get"]["security"] = []
    return found


def _register(model: type[BaseModel], schemas: dict[str, Any], most: int) -> dict[str, str]:
    """Add a model's schema, and those that it refers to; return the reference to it."""
    schema = model.model_json_schema(ref_template=_REFERENCES)
    schemas.update(schema.pop("$defs", {}))
    for name in {"events", "labels"} & schema["properties"].keys():
        schema["properties"][name]["maxItems"] = most
    schemas[model.__name__] = schema
    return {"$ref": _REFERENCES.format(model=model.__name__)}
