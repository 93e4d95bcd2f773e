"""The application: routes behind a gate."""

from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from iln_stream._version import __version__
from iln_stream.api.openapi import OF_ALL, OF_BODIES, describe, errors
from iln_stream.api.appending import Appending
from iln_stream.api.gate import Check, Gate
from iln_stream.api.http_error import HttpError, error_answer
from iln_stream.api.limits import BodyReader, Concurrency, RateLimit
from iln_stream.api.messages import (
    AppendAnswer,
    LiveAnswer,
    ModelAnswer,
    PredictAnswer,
    ReadyAnswer,
)
from iln_stream.api.metrics import ApiMetrics, ModelCollector
from iln_stream.api.models import Models
from iln_stream.api.routes import Routes, as_json
from iln_stream.api.settings import ApiSettings

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
) -> FastAPI:
    """Return the ASGI application, which starts and closes `models` and `appending`.

    Parameters
    ----------
    settings
        Limits.
    models
        Predict.
    appending
        Appends events and labels; None: there is no log.
    metrics
        Counts requests; its registry is served at /metrics.
    checks
        Further checks of each request but probes.
    secured
        Whether a check asks for a bearer token.

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
    limits: list[Check] = [RateLimit(settings.rate, settings.burst), *checks]
    app.add_middleware(
        Gate,
        checks=limits,
        concurrency=Concurrency(settings.concurrent_requests),
        metrics=metrics,
    )
    metrics.registry.register(ModelCollector(models))
    routes = Routes(
        settings,
        models,
        appending,
        metrics,
        BodyReader(settings.body_bytes),
    )
    _add_routes(app, routes, secured)
    return app


def _add_routes(app: FastAPI, routes: Routes, secured: bool) -> None:
    async def description(request: Request) -> Response:
        """Describe the API."""
        task = routes.models.task()
        return as_json(describe(app, routes.settings, task, secured))

    every, with_body = OF_ALL, OF_BODIES
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
        ("POST", "/predict", routes.predict, {**found, **errors(*with_body, 404)}),
        ("POST", "/events", routes.events, {**appended, **errors(*with_body, 404)}),
        ("POST", "/feedback", routes.feedback, {**appended, **errors(*with_body, 404)}),
        ("POST", "/promote", routes.promote, {**appended, **errors(*with_body, 404)}),
        ("GET", "/model", routes.model, {**model, **errors(*every, 404, 422)}),
        ("GET", "/metrics", routes.metrics_text, {**text, **errors(*every)}),
        ("GET", "/openapi.json", description, {**described, **errors(*every)}),
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
