"""The application: static files, and the stream of changes."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from iln_stream.api.auth import KnownHost
from iln_stream.api.http_error import HttpError
from iln_stream.page.board import Board
from iln_stream.page.files import HEADERS, static_files
from iln_stream.page.poller import Poller

_BEAT_SECONDS = 5.0
"""A browser that hears nothing for longer takes the connection for broken."""

_RETRY_MILLISECONDS = 1000


def create_app(
    board: Board,
    poller: Poller,
    browsers: int,
    hosts: Sequence[str] | None,
    stopping: Callable[[], bool],
) -> ASGIApp:
    """Return the ASGI application, which runs the poller.

    Parameters
    ----------
    board
        What the page shows.
    poller
        Updates the board.
    browsers
        Streams at the same time; further ones are refused.
    hosts
        Names of this host that a request may name; None: any.
    stopping
        Whether the server stops, so that streams have to end.

    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        polling = asyncio.create_task(poller.run())
        yield
        polling.cancel()
        with suppress(asyncio.CancelledError):
            await polling

    async def stream(request: Request) -> Response:
        if poller.n_browsers >= browsers:
            return PlainTextResponse("too many browsers; close one\n", 503)
        compress = "gzip" in request.headers.get("accept-encoding", "")
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        if compress:
            headers["Content-Encoding"] = "gzip"
        content = stream_of_messages(board, poller, stopping)
        return StreamingResponse(
            _compressed(content) if compress else content,
            headers=headers,
            media_type="text/event-stream",
        )

    files = static_files()

    async def file(request: Request) -> Response:
        return files[request.url.path].answer(request)

    routes = [Route("/events", stream), *(Route(path, file) for path in files)]
    return _Guard(Starlette(routes=routes, lifespan=lifespan), hosts)


async def stream_of_messages(
    board: Board, poller: Poller, stopping: Callable[[], bool]
) -> AsyncIterator[bytes]:
    """Yield server-sent events: first all that there is, then what is new.

    While a message waits for a slow network, nothing is made; the next one then has all that is
    new.
    """
    poller.enter()
    try:
        yield f"retry: {_RETRY_MILLISECONDS}\n\n".encode()
        revision = 0
        quiet = 0.0
        while not stopping():
            if await board.newer_than(revision, 0.5):
                message, revision, quiet = board.message(revision), board.revision, 0.0
                yield f"data: {message}\n\n".encode()
            else:
                quiet += 0.5
                if quiet >= _BEAT_SECONDS:
                    quiet = 0.0
                    yield b"event: beat\ndata:\n\n"
    finally:
        poller.leave()


async def _compressed(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Compress a stream; each part can be read as soon as it arrives."""
    gzip = zlib.compressobj(level=3, wbits=31)
    async for part in parts:
        yield gzip.compress(part) + gzip.flush(zlib.Z_SYNC_FLUSH)


class _Guard:
    """Adds the headers of all answers, and refuses requests that name another host."""

    def __init__(self, app: ASGIApp, hosts: Sequence[str] | None) -> None:
        self._app = app
        self._check = None if hosts is None else KnownHost(hosts)
        self._headers = [(name.lower().encode(), text.encode()) for name, text in HEADERS.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._headers]
            await send(message)

        try:
            if self._check is not None:
                self._check(scope)
        except HttpError as refusal:
            await refusal.answer()(scope, receive, with_headers)
        else:
            await self._app(scope, receive, with_headers)
