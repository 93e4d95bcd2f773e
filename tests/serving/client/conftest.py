"""A server that answers as told, and both clients behind one face."""

import asyncio
import json
import socket
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple

import pytest

from iln_stream.serving.client import AsyncClient, Client

VERSION = {"name": "m", "version": 3, "age_seconds": 0.25, "n_learned": 70}


class Received(NamedTuple):
    """A request that the server got."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class ScriptedServer(ThreadingHTTPServer):
    """Answers with the next line of a script, (status, headers, body), or breaks the connection.

    Without a script it predicts 1.5, and appends.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.script = []
        self.received = []
        self.n_appended = 0

    def answer(self, received):
        """Answer as the API does."""
        if received.path == "/predict":
            predictions = [{"y_pred": 1.5} for _ in received.body["events"]]
            return 200, {}, {"predictions": predictions, "model": VERSION}
        n = sum(
            len(received.body[field]) for field in ("events", "labels") if field in received.body
        )
        n = n or 1
        first, self.n_appended = self.n_appended, self.n_appended + n
        places = [{"partition": 0, "offset": first + i, "is_new": True} for i in range(n)]
        return 201, {}, {"appended": places}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ScriptedServer

    def _respond(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        received = Received(
            self.command, self.path, dict(self.headers), json.loads(body) if body else None
        )
        self.server.received.append(received)
        line = self.server.script.pop(0) if self.server.script else self.server.answer(received)
        if line == "break":
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        if line == "hang":
            time.sleep(3.0)
            return
        status, headers, content = line
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = _respond  # noqa: N815

    def log_message(self, *_):
        """Log nothing."""


@pytest.fixture
def server():
    """A scripted server on a free port."""
    with ScriptedServer() as running:
        thread = Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


Ask = Callable[..., Any]


@pytest.fixture(params=["blocking", "awaiting"])
def ask(request):
    """Calls a method of a new client of either kind: ask(options, method, *arguments)."""

    def blocking(options, method, *arguments, **named):
        with Client(trust_env=False, **options) as client:
            return getattr(client, method)(*arguments, **named)

    def awaiting(options, method, *arguments, **named):
        async def asked():
            async with AsyncClient(trust_env=False, **options) as client:
                return await getattr(client, method)(*arguments, **named)

        return asyncio.run(asked())

    return blocking if request.param == "blocking" else awaiting
