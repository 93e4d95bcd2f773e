"""The server of the live page."""

import asyncio
import logging
import os
import socket
import time
import zlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from iln_stream.errors import is_loopback, names_of
from iln_stream.serving.gate import HttpError, KnownHost
from iln_stream.serving.page import HEADERS, Board, Poller, static_files
from iln_stream.serving.protocol import GracefulServer, LimitedProtocol, configuration, listen
from iln_stream.serving.settings import PageSettings

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
    gzip = zlib.compressobj(level=7, wbits=31)
    async for part in parts:
        yield gzip.compress(part) + gzip.flush(zlib.Z_SYNC_FLUSH)


class _Guard:
    """Adds the headers of all answers, and refuses requests that name another host."""

    def __init__(self, app: ASGIApp, hosts: Sequence[str] | None) -> None:
        self._app = app
        self._check = None if hosts is None else KnownHost(hosts)
        self._headers = [(name.lower().encode(), text.encode()) for name, text in HEADERS.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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


log = logging.getLogger(__name__)

_SEND_BYTES = 64 * 1024
"""What the kernel keeps for a slow network: more would delay the newest state."""

_NICE = 5
"""The learner goes first where processors are few."""


class PageServer:
    """Serves the page in one process.

    `listening` is a listening socket; None: one at the address of the settings.

    Raises
    ------
    SettingsError
        When the address can't be listened on.

    """

    def __init__(self, settings: PageSettings, listening: socket.socket | None = None) -> None:
        self._socket = listening or listen(settings.host, settings.port)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BYTES)
        host, port = self._socket.getsockname()[:2]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        self._learner = settings.learner
        if not is_loopback(host):
            log.warning(
                "host = %r: anyone who can reach it can read the latest events; let a proxy in "
                "front ask for a password",
                host,
            )
        self._server = GracefulServer(self._config(settings, host))

    def run(self) -> None:
        """Serve until SIGINT, SIGTERM or `stop`."""
        with suppress(OSError):
            os.nice(_NICE)
        log.info("page at %s, of the learner at %s", self.url, self._learner)
        self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """Stop `run`; safe from any thread."""
        self._server.should_exit = True

    def _config(self, settings: PageSettings, host: str) -> uvicorn.Config:
        hosts = names_of(host) if is_loopback(host) else None
        board = Board(settings.learner, time.time())
        poller = Poller(settings.learner, board, settings.poll_seconds)
        app = create_app(board, poller, settings.browsers, hosts, lambda: self._server.should_exit)
        protocol = partial(
            LimitedProtocol,
            header_seconds=5.0,
            body_seconds=60.0,
            connections=10 * settings.browsers,
            refused=lambda _: None,  # they are not counted
        )
        return configuration(app, protocol, timeout_keep_alive=60, timeout_graceful_shutdown=5)
