"""The routes: what each request does."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import Response

from iln_stream.api.appending import Appending
from iln_stream.api.decoding import decoded, decoded_batch
from iln_stream.api.http_error import HttpError, retry
from iln_stream.api.limits import BodyReader
from iln_stream.api.messages import EVENTS, EventBatch, PredictBatch, PredictOne
from iln_stream.api.metrics import ApiMetrics
from iln_stream.api.models import Models
from iln_stream.api.predicting import Predictor
from iln_stream.api.settings import ApiSettings
from iln_stream.events import Event, Label, MalformedError, one_hot
from iln_stream.streams import Appended, NewRecord

_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class Routes(NamedTuple):
    """Handlers of the routes, and what they use."""

    settings: ApiSettings
    models: Models
    appending: Appending
    metrics: ApiMetrics
    read_body: BodyReader

    async def predict(self, request: Request) -> Response:
        """Predict one event, or several."""
        body = await self.read_body(request.scope, request.receive)
        message = decoded_batch(body, PredictOne, PredictBatch, self.settings.batch_events)
        if isinstance(message, PredictBatch):
            events = [event.x for event in message.events]
        else:
            events = [message.x]
        self.metrics.got(events)
        name, predictor = self.models.chosen(message.model)
        predictions = await predictor.predict(events)
        self.metrics.predicted(len(predictions))
        version = _version(name, predictor)
        return as_json({"predictions": predictions, "model": version})

    async def events(self, request: Request) -> Response:
        """Append one event, or several."""
        event, batch, _ = EVENTS[self.models.task()]
        body = await self.read_body(request.scope, request.receive)
        message = decoded_batch(body, event, batch, self.settings.batch_events)
        if isinstance(message, EventBatch):
            records = [_event_record(e, f"events.{i}.") for i, e in enumerate(message.events)]
        else:
            records = [_event_record(message)]
        events = message.events if isinstance(message, EventBatch) else (message,)
        self.metrics.got(each.x for each in events)
        return await self._append(records)

    async def feedback(self, request: Request) -> Response:
        """Append the label of an event."""
        _, _, label = EVENTS[self.models.task()]
        body = await self.read_body(request.scope, request.receive)
        return await self._append([_label_record(decoded(body, label))])

    async def model(self, request: Request) -> Response:
        """Describe a model."""
        name, predictor = self.models.chosen(request.query_params.get("model"))
        published = predictor.published
        return as_json(
            {
                **_version(name, predictor),
                "learner": published.name,
                "task": published.task,
                "positions": {str(p): offset for p, offset in published.positions.items()},
                "published_at": published.published_at,
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
        if self.appending.problem is not None:
            reasons.append(self.appending.problem)
        return as_json({"ready": not reasons, "reasons": reasons}, 503 if reasons else 200)

    async def _append(self, records: Sequence[NewRecord]) -> Response:
        backlog = self.models.backlog(self.appending.stream, self.appending.ends)
        if backlog is not None:
            self.metrics.behind(backlog)
            if backlog > self.settings.max_backlog:
                raise HttpError(
                    429,
                    "backlog",
                    f"the learner is {backlog:,} records behind the end of the log; try again",
                    retry(5.0),
                )
        try:
            async with asyncio.timeout(self.settings.append_seconds):
                places = await self.appending.submit(records)
        except TimeoutError:
            raise HttpError(
                503,
                "log",
                f"the log did not store the events in {self.settings.append_seconds:g} s, but still"
                " may; send events with an id again",
                retry(2.0),
            ) from None
        appended = [_place(place) for place in places]
        return as_json({"appended": appended}, 201 if any(p.is_new for p in places) else 200)


def _event_record(event: Event, path: str = "") -> NewRecord:
    try:
        one_hot(event.x)  # the learner would refuse it, as a dead letter
    except MalformedError as error:
        raise HttpError(422, "malformed", f"{path}{error}") from None
    value = event.model_dump_json(exclude_unset=True).encode()
    return NewRecord(value, event.id, None if event.id is None else _identity("event", event.id))


def _label_record(label: Label) -> NewRecord:
    value = label.model_dump_json(exclude_unset=True).encode()
    return NewRecord(value, label.id, _identity("label", label.id))


def _identity(kind: str, name: str) -> str:
    """Return the record's id: an event and its label have the same name, but are two records."""
    if kind == "event" and not name.startswith(("event:", "label:")):
        return name
    return f"{kind}:{name}"


def _place(place: Appended) -> dict[str, Any]:
    return {"partition": place.partition, "offset": place.offset, "is_new": place.is_new}


def _version(name: str, predictor: Predictor) -> dict[str, Any]:
    return {
        "name": name,
        "version": predictor.published.version,
        "age_seconds": predictor.age,
        "n_learned": predictor.published.n_learned,
    }


def as_json(content: Mapping[str, Any], status: int = 200) -> Response:
    """Return an answer."""
    text = _encoder.encode(content) + "\n"  # for terminals
    return Response(text.encode(errors="backslashreplace"), status, media_type="application/json")
