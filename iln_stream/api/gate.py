"""Middleware that every request passes: checks, limits and metrics."""

from collections.abc import Callable, Sequence
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from iln_stream.api.http_error import HttpError
from iln_stream.api.limits import Concurrency
from iln_stream.api.metrics import ApiMetrics

Check = Callable[[Scope], None]
"""Raises an HttpError if a request may not pass."""

PROBES = frozenset({"/live", "/ready"})
"""Paths that are answered without checks: probes send no token."""


class Gate:
    """Refuses requests that fail a check; counts and times all.

    Parameters
    ----------
    app
        Gets the requests that pass.
    checks
        Called in turn with each request.
    concurrency
        Limits requests in progress.
    metrics
        Counts requests and refusals.

    """

    def __init__(
        self, app: ASGIApp, checks: Sequence[Check], concurrency: Concurrency, metrics: ApiMetrics
    ) -> None:
        self._app = app
        self._checks = tuple(checks)
        self._concurrency = concurrency
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = perf_counter()
        status = 500  # of an exception, which the server answers

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            if scope["path"] in PROBES:
                await self._app(scope, receive, observed)
            else:
                try:
                    for check in self._checks:
                        check(scope)
                    self._concurrency.enter()
                except HttpError as refusal:
                    self._metrics.refused(refusal.reason)
                    await refusal.answer()(scope, receive, observed)
                    return
                try:
                    await self._app(scope, receive, observed)
                finally:
                    self._concurrency.leave()
        finally:
            self._metrics.answered(scope["path"], status, perf_counter() - begun)
