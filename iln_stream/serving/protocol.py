"""HTTP/1.1 with time limits, TLS, and a server that ends in order."""

import asyncio
import contextlib
import logging
import signal
import socket
import ssl
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from iln_stream.errors import why_not
from iln_stream.serving.gate import error_body
from iln_stream.serving.settings import ApiSettings
from iln_stream.settings import SettingsError

log = logging.getLogger(__name__)


class GracefulServer(uvicorn.Server):
    """Answers the requests in progress on SIGINT or SIGTERM, and then ends without an error."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGINT and SIGTERM; uvicorn would raise the signal again at the end."""
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread receives signals
            return

        def on_signal(number: int, frame: FrameType | None) -> None:
            log.info("%s: answering the requests in progress", signal.Signals(number).name)
            self.should_exit = True

        before = {n: signal.signal(n, on_signal) for n in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 picks a free one.

    Raises
    ------
    SettingsError
        When the address can't be listened on.

    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        raise SettingsError(f"host = {host!r}, port = {port}: {why_not(error)}") from None


def configuration(app: Any, protocol: Any, **more: Any) -> uvicorn.Config:
    """Return the configuration of a server with this protocol, which logs no requests."""
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # malformed requests are counted
    return uvicorn.Config(
        app,
        loop="uvloop",
        http=protocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        **more,
    )


def tls_context(settings: ApiSettings) -> ssl.SSLContext | None:
    """Return the server's context; None: plain HTTP.

    Raises
    ------
    SettingsError
        When a file is missing or not valid.

    """
    if settings.tls_certificate is None:
        for name in ("tls_key", "tls_client_ca"):
            if getattr(settings, name) is not None:
                raise SettingsError(f"{name}: needs tls_certificate, too")
        return None
    if settings.tls_key is None:
        raise SettingsError("tls_certificate: needs tls_key, too")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        # An empty password: OpenSSL must not ask for one on the terminal.
        context.load_cert_chain(settings.tls_certificate, settings.tls_key, password="")
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"tls_certificate = {str(settings.tls_certificate)!r}, tls_key = "
            f"{str(settings.tls_key)!r}: {error}"
        ) from None
    if settings.tls_client_ca is not None:
        try:
            context.load_verify_locations(settings.tls_client_ca)
        except OSError as error:
            raise SettingsError(
                f"tls_client_ca = {str(settings.tls_client_ca)!r}: {error}"
            ) from None
        context.verify_mode = ssl.CERT_REQUIRED
    return context


MOST_HEADER_BYTES = 64 * 1024

_PART_BYTES = 4096

_LINGER_SECONDS = 1.0
"""Time to read what a refused client still sends; closing at once would discard the answer."""

_CLOSE = b"connection: close\r\ncontent-type: application/json\r\n"


class LimitedProtocol(HttpToolsProtocol):
    """Closes connections that take too long to send a request or read an answer.

    A connection that sends nothing at all is closed after `header_seconds`, too.

    Parameters
    ----------
    header_seconds
        Time that a client may take for its headers.
    body_seconds
        Time that a client may then take for its body, and to go on reading a long answer.
    connections
        Connections open at the same time; further ones are closed.
    refused
        Called with the reason of each refusal.

    """

    def __init__(
        self,
        config: Config,
        *arguments: Any,
        header_seconds: float,
        body_seconds: float,
        connections: int,
        refused: Any,
        **named: Any,
    ) -> None:
        super().__init__(config, *arguments, **named)
        self._header_seconds = header_seconds
        self._body_seconds = body_seconds
        self._most_connections = connections
        self._refused = refused
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._in_headers = False
        self._header_bytes = 0
        self._is_over = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        if len(self.connections) > self._most_connections:
            self._refuse(503, "connections", "too many connections; try again")
            return
        self._await_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._set_deadline(None)
        self._stop_waiting_for_reader()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Give the client time to read its answer."""
        super().pause_writing()
        self._stop_waiting_for_reader()
        self._unread = self.loop.call_later(self._body_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: the client has read."""
        self._stop_waiting_for_reader()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        """Parse what came."""
        # In parts, as one read may hold many requests.
        for start in range(0, len(data), _PART_BYTES):
            if self._is_over or self.transport.is_closing():
                return
            part = data[start : start + _PART_BYTES]
            super().data_received(part)
            if self._in_headers:
                # A header that is not complete has not been counted.
                self._header_bytes += len(part)
            self._check_headers()

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._in_headers = True
        self._header_bytes = 0
        self._await_headers()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header."""
        super().on_header(name, value)
        self._header_bytes += len(name) + len(value)

    def on_headers_complete(self) -> None:
        """Begin a request's body."""
        self._in_headers = False
        self._set_deadline(self.loop.call_later(self._body_seconds, self._body_late))
        if not self._check_headers():
            return
        upgrade = self.parser.should_upgrade()
        if upgrade and self._has_body():
            # The parser would skip the body, and read its bytes as the next request.
            self._refuse(400, "upgrade", "Upgrade: not supported with a body; leave it out")
            return
        super().on_headers_complete()
        if upgrade:
            self.cycle.keep_alive = False  # the parser drops what came with it

    def on_message_complete(self) -> None:
        """End a request."""
        if self._is_over:
            return
        self._set_deadline(None)
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, in the form of all errors."""
        self._refuse(400, "not HTTP", "the request is not valid HTTP/1.1")

    def _await_headers(self) -> None:
        self._set_deadline(self.loop.call_later(self._header_seconds, self._headers_late))

    def _headers_late(self) -> None:
        if self._in_headers:
            self._refuse(408, "slow headers", "the headers took too long")
        else:
            self._close()

    def _body_late(self) -> None:
        if self.cycle is None or self.cycle.response_started:
            self._close()
        else:
            self._refuse(408, "slow body", "the body took too long; send less of it, or faster")

    def _check_headers(self) -> bool:
        if self._header_bytes <= MOST_HEADER_BYTES:
            return True
        self._refuse(431, "headers", f"headers: more than {MOST_HEADER_BYTES:,} bytes")
        return False

    def _has_body(self) -> bool:
        return any(
            name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0"))
            for name, value in self.headers
        )

    def _refuse(self, status: int, reason: str, message: str) -> None:
        """Answer without the application, and close the connection."""
        if self._is_over or self.transport.is_closing():
            return
        self._is_over = True
        self._refused(reason)
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        body = error_body(message)
        head = b"HTTP/1.1 %d %s\r\n" % (status, reason.encode())
        length = b"content-length: %d\r\n\r\n" % len(body)
        self.transport.write(head + _CLOSE + length + body)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._set_deadline(self.loop.call_later(_LINGER_SECONDS, self._close))

    def _close(self) -> None:
        self._set_deadline(None)
        if not self.transport.is_closing():
            self.transport.close()

    def _stop_waiting_for_reader(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _set_deadline(self, deadline: asyncio.TimerHandle | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = deadline
