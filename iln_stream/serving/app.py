"""The HTTP API: its routes, their description, and the application."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from iln_stream._version import __version__
from iln_stream.records.commands import is_command, promotion
from iln_stream.serving.appending import (
    Appending,
    records_of_events,
    records_of_labels,
    records_of_predicted,
)
from iln_stream.serving.gate import (
    BodyReader,
    Check,
    Gate,
    HttpError,
    RateLimit,
    error_answer,
    retry,
)
from iln_stream.serving.messages import (
    EVENTS,
    LABELS,
    AppendAnswer,
    ErrorAnswer,
    EventBatch,
    LabelBatch,
    LiveAnswer,
    ModelAnswer,
    PredictAnswer,
    PredictBatch,
    PredictOne,
    PredictRecord,
    PredictRecords,
    Promotion,
    ReadyAnswer,
    decoded,
    decoded_batch,
)
from iln_stream.serving.metrics import ApiMetrics
from iln_stream.serving.models import Models
from iln_stream.serving.predicting import OfRecord, Predictor
from iln_stream.serving.recording import AnswerLog
from iln_stream.serving.settings import ApiSettings
from iln_stream.streams import Appended, NewRecord, of_stream

APPEND_SECONDS = 10.0
"""Seconds to wait for the log to store events."""

_BURST_SECONDS = 2.0
"""A client may send what `rate` allows in this time in one burst."""

_REFERENCES = "#/components/schemas/{model}"

ERRORS = {
    400: "The request is not valid HTTP or JSON, or has a key twice in an object.",
    401: "The bearer token is missing or unknown.",
    404: "There is no such path, no model of this name, or no log to append to.",
    405: "The path has no such method.",
    408: "The client took too long to send its request.",
    409: "The run's records can't be predicted here: send inputs as x. Or it reads no such events: "
    "write its own records to the log.",
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

    `task` is that of the published models, which says what a label is; None: not known. If
    `secured`, requests need a token.
    """
    found = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    bodies: dict[str, tuple[type[BaseModel], ...]] = {
        "/predict": (PredictOne, PredictBatch, PredictRecord, PredictRecords),
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
    for name in {"events", "labels", "records"} & schema["properties"].keys():
        schema["properties"][name]["maxItems"] = most
    schemas[model.__name__] = schema
    return {"$ref": _REFERENCES.format(model=model.__name__)}


_NO_LOG = (
    "this server has no log to append to, as its setting events (--events, ILN_API_EVENTS) is "
    "empty; set it to the address of the log"
)

_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


Read = TypeVar("Read")


_LARGE = 32_768
"""Bytes of a body that takes some milliseconds to read."""

_MANY = 100
"""Records of a request that is appended after others as large."""


_OF_RECORDS: dict[str, type[BaseModel]] = {"record": PredictRecord, "records": PredictRecords}


class _Record(NamedTuple):
    x: OfRecord
    timestamp: datetime | None
    id: None = None


class Routes(NamedTuple):
    """Handlers of the routes, and what they use."""

    settings: ApiSettings
    models: Models
    appending: Appending | None
    metrics: ApiMetrics
    read_body: BodyReader
    reading: asyncio.Lock
    appending_many: asyncio.Lock
    answers: AnswerLog | None

    async def predict(self, request: Request) -> Response:
        """Predict one event, or several; append those with an id to the log."""
        body = await self.read_body(request.scope, request.receive)

        def read() -> tuple[str, Predictor, list[Any], list[NewRecord]]:
            message: Any = decoded_batch(
                body, PredictOne, PredictBatch, self.settings.batch_events, others=_OF_RECORDS
            )
            name, predictor = self.models.chosen(message.model)
            if type(message) in _OF_RECORDS.values():
                found = getattr(message, "records", None) or [message.record]
                return name, predictor, [_Record(OfRecord(e), message.timestamp) for e in found], []
            is_batch = isinstance(message, PredictBatch)
            events = message.events if isinstance(message, PredictBatch) else [message]
            timed = predictor.published.aggregates is not None
            return name, predictor, events, records_of_predicted(events, is_batch, timed=timed)

        name, predictor, events, records = await self._read(body, read)
        if records and self.appending is None:
            raise HttpError(422, "no log", f"id: {_NO_LOG}, or leave the id out")
        self.metrics.got(event.x for event in events if not isinstance(event, _Record))
        times = [None if (at := event.timestamp) is None else at.timestamp() for event in events]
        predictions = await predictor.predict([event.x for event in events], times)
        # Last: a request that is refused appends nothing.
        places = await self._append(records) if records else ()
        recorded = [i for i, event in enumerate(events) if event.id is not None]
        for i, place in zip(recorded, places, strict=True):
            predictions[i]["appended"] = place._asdict()
        self.metrics.predicted.inc(len(predictions))
        self.metrics.not_learned(sum(len(e.get("unknown_inputs", ())) for e in predictions))
        version = _version(name, predictor)
        if self.answers is not None:
            inputs = [e.x.fields if isinstance(e, _Record) else e.x for e in events]
            ids = [event.id for event in events]
            answered = list(zip(inputs, ids, predictions, strict=True))
            self.answers.record(name, version["version"], answered)
        return as_json({"predictions": predictions, "model": version}, _status(places))

    async def events(self, request: Request) -> Response:
        """Append one event, or several."""
        event, batch = EVENTS[self.models.task()]
        body = await self.read_body(request.scope, request.receive)

        def read() -> tuple[list[Any], list[NewRecord]]:
            message = decoded_batch(body, event, batch, self.settings.batch_events)
            is_batch = isinstance(message, EventBatch)
            events = message.events if isinstance(message, EventBatch) else [message]
            return events, records_of_events(events, is_batch)

        events, records = await self._read(body, read)
        self.metrics.got(each.x for each in events)
        return _places(await self._append(records))

    async def feedback(self, request: Request) -> Response:
        """Append the label of an event, or those of several."""
        label, batch = LABELS[self.models.task()]
        body = await self.read_body(request.scope, request.receive)

        def read() -> list[NewRecord]:
            message = decoded_batch(body, label, batch, self.settings.batch_events, "labels")
            labels = message.labels if isinstance(message, LabelBatch) else [message]
            return records_of_labels(labels)

        return _places(await self._append(await self._read(body, read)))

    async def _read(self, body: bytes, read: Callable[[], Read]) -> Read:
        """Return what is read of a body: of large ones on a thread, so that others get a turn."""
        if len(body) < _LARGE:
            return read()
        async with self.reading:
            return await asyncio.to_thread(read)

    async def promote(self, request: Request) -> Response:
        """Append the command that makes a contender the champion."""
        body = await self.read_body(request.scope, request.receive)
        message = decoded(body, Promotion)
        if self.appending is None:
            raise HttpError(404, "no log", _NO_LOG)
        partitions = self.models.partitions(message.model, self.appending.stream)
        command = promotion(message.contender)
        return _places(await self._append([NewRecord(command, partition=p) for p in partitions]))

    async def model(self, request: Request) -> Response:
        """Describe a model."""
        name, predictor = self.models.chosen(request.query_params.get("model"))
        header = predictor.published.header
        return as_json(
            {
                **_version(name, predictor),
                "learner": header.learner,
                "task": header.task,
                "positions": of_stream(header.positions, header.stream),
                "published_at": header.published_at,
                "inputs": predictor.inputs(),
            }
        )

    async def metrics_text(self, request: Request) -> Response:
        """Return the metrics."""
        return Response(generate_latest(self.metrics.registry), media_type=CONTENT_TYPE_LATEST)

    async def live(self, request: Request) -> Response:
        """Say that the process answers."""
        return as_json({"live": True})

    async def ready(self, request: Request) -> Response:
        """Say whether requests are carried out, or why not."""
        reasons = self.models.problems()
        if self.appending is not None and self.appending.problem is not None:
            reasons.append(self.appending.problem)
        found = {"ready": not reasons, "reasons": reasons, "degraded": self.models.degraded()}
        return as_json(found, 503 if reasons else 200)

    async def _append(self, records: Sequence[NewRecord]) -> Sequence[Appended]:
        """Append records, and return their places once they are durable."""
        if self.appending is None:
            raise HttpError(404, "no log", _NO_LOG)
        if not is_command(records[0].value):
            self.models.require_readers(self.appending.stream, records)
        backlog = self.models.backlog(self.appending.stream, self.appending.ends)
        if backlog is not None:
            self.metrics.backlog.set(backlog)
            if backlog > self.settings.max_backlog:
                raise HttpError(
                    429,
                    "backlog",
                    f"the learner is {backlog:,} records behind the end of the log; try again",
                    retry(5.0),
                )
        # Several large requests at once would fill the queue.
        turn = self.appending_many if len(records) > _MANY else nullcontext()
        try:
            async with turn, asyncio.timeout(APPEND_SECONDS):
                return await self.appending.submit(records)
        except TimeoutError:
            raise HttpError(
                503,
                "log",
                f"the log did not store the events in {APPEND_SECONDS:g} s, but still"
                " may; send events with an id again",
                retry(2.0),
            ) from None


def _places(places: Sequence[Appended]) -> Response:
    return as_json({"appended": [place._asdict() for place in places]}, _status(places))


def _status(places: Sequence[Appended]) -> int:
    return 201 if any(place.is_new for place in places) else 200


def _version(name: str, predictor: Predictor) -> dict[str, Any]:
    return {
        "name": name,
        "version": predictor.published.header.version,
        "pinned": predictor.published.pinned,
        "age_seconds": predictor.age,
        "n_learned": predictor.published.header.n_learned,
        **({} if (age := predictor.published.keys_age) is None else {"keys_age_seconds": age}),
    }


def as_json(content: Mapping[str, Any], status: int = 200) -> Response:
    """Return an answer."""
    text = _encoder.encode(content) + "\n"  # for terminals
    return Response(text.encode(errors="backslashreplace"), status, media_type="application/json")


Answers = dict[int | str, dict[str, Any]]

_DESCRIPTION = (
    "Predictions of a learner that goes on learning, and the log of events that it learns from."
)


class DirectRoute(APIRoute):
    """Calls a handler with the request: handlers decode and encode by themselves.

    This takes half of the time: FastAPI would resolve dependencies that no handler has.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler."""
        return self.endpoint


def create_app(
    settings: ApiSettings,
    models: Models,
    appending: Appending | None,
    metrics: ApiMetrics,
    checks: Sequence[Check] = (),
    secured: bool = False,
    answers: AnswerLog | None = None,
) -> FastAPI:
    """Return the ASGI application, which starts `models` and `appending`, and closes all.

    Each request but probes has to pass `checks`; `secured` says whether one of these asks for a
    bearer token.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        models.start()
        if appending is not None:
            appending.start()
        yield
        if appending is not None:
            appending.close()
        models.close()
        if answers is not None:
            answers.close()

    # Coroutines: Starlette would run functions on threads.
    async def refused(request: Request, error: HttpError) -> Response:
        metrics.refused(error.reason)
        return error.answer()

    async def not_routed(request: Request, error: HTTPException) -> Response:
        return error_answer(error.status_code, f"{error.detail}; see /openapi.json", error.headers)

    async def failed(request: Request, error: Exception) -> Response:
        return error_answer(500, "internal error; the server's log has it")

    app = FastAPI(
        title="iln_stream",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers={HttpError: refused, HTTPException: not_routed, Exception: failed},
    )
    burst = max(1, round(_BURST_SECONDS * settings.rate))
    limits: list[Check] = [RateLimit(settings.rate, burst), *checks]
    app.add_middleware(Gate, checks=limits, most=settings.concurrent_requests, metrics=metrics)
    metrics.registry.register(models)
    routes = Routes(
        settings,
        models,
        appending,
        metrics,
        BodyReader(settings.body_bytes),
        asyncio.Lock(),
        asyncio.Lock(),
        answers,
    )
    _add_routes(app, routes, secured)
    return app


def _add_routes(app: FastAPI, routes: Routes, secured: bool) -> None:
    async def description(request: Request) -> Response:
        """Describe the API."""
        task = routes.models.task()
        return as_json(describe(app, routes.settings, task, secured))

    appended: Answers = {
        200: {"model": AppendAnswer, "description": "The log had all of them."},
        201: {"model": AppendAnswer, "description": "Appended, durably."},
    }
    found: Answers = {
        200: {"model": PredictAnswer, "description": "The predictions."},
        201: {"model": PredictAnswer, "description": "The predictions; events were appended."},
    }
    model: Answers = {200: {"model": ModelAnswer, "description": "The model."}}
    ready: Answers = {
        200: {"model": ReadyAnswer, "description": "Ready."},
        503: {"model": ReadyAnswer, "description": "Not ready, for these reasons."},
    }
    live: Answers = {200: {"model": LiveAnswer, "description": "Alive."}}
    text: Answers = {
        200: {"content": {"text/plain": {}}, "description": "The metrics of Prometheus."}
    }
    described: Answers = {
        200: {"content": {"application/json": {}}, "description": "This description."}
    }
    for method, path, handler, answers in (
        ("POST", "/predict", routes.predict, {**found, **errors(*OF_BODIES, 404, 409)}),
        ("POST", "/events", routes.events, {**appended, **errors(*OF_BODIES, 404, 409)}),
        ("POST", "/feedback", routes.feedback, {**appended, **errors(*OF_BODIES, 404, 409)}),
        ("POST", "/promote", routes.promote, {**appended, **errors(*OF_BODIES, 404)}),
        ("GET", "/model", routes.model, {**model, **errors(*OF_ALL, 404, 422)}),
        ("GET", "/metrics", routes.metrics_text, {**text, **errors(*OF_ALL)}),
        ("GET", "/openapi.json", description, {**described, **errors(*OF_ALL)}),
        ("GET", "/ready", routes.ready, {**ready, **errors(405)}),
        ("GET", "/live", routes.live, {**live, **errors(405)}),
    ):
        app.router.add_api_route(
            path,
            handler,
            methods=[method],
            operation_id=path.strip("/").partition(".")[0],
            responses=answers,
            response_class=Response,
            route_class_override=DirectRoute,
        )
