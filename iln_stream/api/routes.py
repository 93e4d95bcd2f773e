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
from iln_stream.api.messages import (
    EVENTS,
    LABELS,
    EventBatch,
    LabelBatch,
    PredictBatch,
    PredictOne,
    Promotion,
)
from iln_stream.api.metrics import ApiMetrics
from iln_stream.api.models import Models
from iln_stream.api.predicting import Predictor
from iln_stream.api.records import (
    records_of_events,
    records_of_labels,
    records_of_predicted,
    records_of_promotion,
)
from iln_stream.api.settings import ApiSettings
from iln_stream.streams import Appended, NewRecord

_NO_LOG = (
    "this server has no log to append to, as its setting events (--events, ILN_API_EVENTS) is "
    "empty; set it to the address of the log"
)

_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class Routes(NamedTuple):
    """Handlers of the routes, and what they use."""

    settings: ApiSettings
    models: Models
    appending: Appending | None
    metrics: ApiMetrics
    read_body: BodyReader

    async def predict(self, request: Request) -> Response:
        """Predict one event, or several; append those with an id to the log."""
        body = await self.read_body(request.scope, request.receive)
        message = decoded_batch(body, PredictOne, PredictBatch, self.settings.batch_events)
        is_batch = isinstance(message, PredictBatch)
        events = message.events if isinstance(message, PredictBatch) else [message]
        records = records_of_predicted(events, is_batch)
        if records and self.appending is None:
            raise HttpError(422, "no log", f"id: {_NO_LOG}, or leave the id out")
        self.metrics.got(event.x for event in events)
        name, predictor = self.models.chosen(message.model)
        predictions = await predictor.predict([event.x for event in events])
        # Last: a request that is refused appends nothing.
        places = await self._append(records) if records else ()
        recorded = [i for i, event in enumerate(events) if event.id is not None]
        for i, place in zip(recorded, places, strict=True):
            predictions[i]["appended"] = place._asdict()
        self.metrics.predicted(len(predictions))
        version = _version(name, predictor)
        return as_json({"predictions": predictions, "model": version}, _status(places))

    async def events(self, request: Request) -> Response:
        """Append one event, or several."""
        event, batch = EVENTS[self.models.task()]
        body = await self.read_body(request.scope, request.receive)
        message = decoded_batch(body, event, batch, self.settings.batch_events)
        is_batch = isinstance(message, EventBatch)
        events = message.events if isinstance(message, EventBatch) else [message]
        records = records_of_events(events, is_batch)
        self.metrics.got(each.x for each in events)
        return _places(await self._append(records))

    async def feedback(self, request: Request) -> Response:
        """Append the label of an event, or those of several."""
        label, batch = LABELS[self.models.task()]
        body = await self.read_body(request.scope, request.receive)
        message = decoded_batch(body, label, batch, self.settings.batch_events, "labels")
        labels = message.labels if isinstance(message, LabelBatch) else [message]
        return _places(await self._append(records_of_labels(labels)))

    async def promote(self, request: Request) -> Response:
        """Append the command that makes a contender the champion."""
        body = await self.read_body(request.scope, request.receive)
        message = decoded(body, Promotion)
        if self.appending is None:
            raise HttpError(404, "no log", _NO_LOG)
        partitions = self.models.partitions(message.model, self.appending.stream)
        return _places(await self._append(records_of_promotion(message.contender, partitions)))

    async def model(self, request: Request) -> Response:
        """Describe a model."""
        name, predictor = self.models.chosen(request.query_params.get("model"))
        published = predictor.published
        return as_json(
            {
                **_version(name, predictor),
                "learner": published.name,
                "task": published.task,
                "positions": {str(p): at for p, at in published.positions.items() if p >= 0},
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
        if self.appending is not None and self.appending.problem is not None:
            reasons.append(self.appending.problem)
        found = {"ready": not reasons, "reasons": reasons, "degraded": self.models.degraded()}
        return as_json(found, 503 if reasons else 200)

    async def _append(self, records: Sequence[NewRecord]) -> Sequence[Appended]:
        """Append records, and return their places once they are durable."""
        if self.appending is None:
            raise HttpError(404, "no log", _NO_LOG)
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
                return await self.appending.submit(records)
        except TimeoutError:
            raise HttpError(
                503,
                "log",
                f"the log did not store the events in {self.settings.append_seconds:g} s, but still"
                " may; send events with an id again",
                retry(2.0),
            ) from None


def _places(places: Sequence[Appended]) -> Response:
    return as_json({"appended": [place._asdict() for place in places]}, _status(places))


def _status(places: Sequence[Appended]) -> int:
    """Return 201 if something was appended."""
    return 201 if any(place.is_new for place in places) else 200


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
