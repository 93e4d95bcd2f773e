"""The learner's own HTTP server, and the page that it starts."""

import logging
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from socketserver import ThreadingMixIn
from time import monotonic
from types import FrameType
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from prometheus_client import make_wsgi_app
from prometheus_client.registry import CollectorRegistry

from iln_stream.errors import IlnError, is_loopback, names_of, names_one_of, why_not
from iln_stream.service.settings import ServerSettings
from iln_stream.settings import SettingsError

log = logging.getLogger(__name__)


@contextmanager
def stop_on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` on SIGINT or SIGTERM, and restore the previous handlers at the end."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread receives signals; other threads are stopped by `loop.stop`
        return

    def on_signal(number: int, frame: FrameType | None) -> None:
        log.info("%s: finishing the current event", signal.Signals(number).name)
        stop()

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, on_signal) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_LONGEST_CLOSE_SECONDS = 0.1
"""How often the server checks whether to close."""


class HttpServer:
    """Serves /metrics, /ready, /health and further routes until it is closed.

    Each request is answered on a thread of its own.

    Parameters
    ----------
    host, port
        Address to listen on; port 0 picks a free one.
    registry
        Metrics to serve.
    not_ready
        Returns why events can't be learned now; /ready answers 200 if there is no reason, else 503.
        /health always answers 200.
    routes
        Further WSGI applications by path. Each answers every method, on several threads at a time.

    Raises
    ------
    ValueError
        When a route has the path of another or does not begin with a slash.
    OSError
        When the address can't be listened on.

    """

    def __init__(
        self,
        host: str,
        port: int,
        registry: CollectorRegistry,
        not_ready: Callable[[], Sequence[str]],
        routes: Mapping[str, WSGIApplication] | None = None,
    ) -> None:
        known: dict[str, WSGIApplication] = {
            "/metrics": read_only(make_wsgi_app(registry)),
            "/ready": read_only(_readiness(not_ready)),
            "/health": read_only(_alive),
        }
        for path, application in (routes or {}).items():
            if path in known or not path.startswith("/"):
                raise ValueError(
                    f"routes: {path!r} must begin with / and differ from {', '.join(known)}"
                )
            known[path] = application

        def answer(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
            application = known.get(environ["PATH_INFO"])
            if application is None:
                return _text(start, "404 Not Found", f"try {' or '.join(known)}")
            return application(environ, start)

        self._server = make_server(host, port, answer, _MetricsServer, _QuietHandler)
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            args=(_LONGEST_CLOSE_SECONDS,),
            name="http",
            daemon=True,
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """URL of the server."""
        host, port = self._server.server_address[:2]
        return f"http://[{host!s}]:{port}" if ":" in str(host) else f"http://{host!s}:{port}"

    def close(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _readiness(not_ready: Callable[[], Sequence[str]]) -> WSGIApplication:
    def answer(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        if reasons := not_ready():
            return _text(start, "503 Service Unavailable", "\n".join(reasons))
        return _text(start, "200 OK", "ready")

    return answer


def _alive(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
    return _text(start, "200 OK", "alive")


def read_only(application: WSGIApplication) -> WSGIApplication:
    """Return an application that answers GET, HEAD (the headers of GET), and 405 to others."""

    def answer(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        match environ["REQUEST_METHOD"]:
            case "GET":
                return application(environ, start)
            case "HEAD":
                application({**environ, "REQUEST_METHOD": "GET"}, start)
                return iter([b""])  # an iterator, to which wsgiref adds no Content-Length
        allow = ("Allow", "GET, HEAD")
        return _text(start, "405 Method Not Allowed", "use GET or HEAD", allow)

    return answer


def for_this_host(application: WSGIApplication, host: str) -> WSGIApplication:
    """Return an application that answers 421 to requests that name another host than `host`.

    Only if no other machine can reach `host`: else other names of this machine are right, too.
    """
    if not is_loopback(host):
        return application
    hosts = names_of(host)

    def answer(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        if names_one_of(environ.get("HTTP_HOST", ""), hosts):
            return application(environ, start)
        return _text(start, "421 Misdirected Request", f"Host: use one of {', '.join(hosts)}")

    return answer


def _text(
    start: StartResponse, status: str, text: str, *headers: tuple[str, str]
) -> Iterable[bytes]:
    start(status, [("Content-Type", "text/plain; charset=utf-8"), *headers])
    return [f"{text}\n".encode()]


_MOST_CONNECTIONS = 64
"""Each has a thread and a file descriptor; with a further one, the oldest is closed."""

_CONNECTION_SECONDS = 60.0
"""Time for a request and its answer."""


class _MetricsServer(ThreadingMixIn, WSGIServer):
    """Closes connections that are too many, or take too long."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler: Any) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self._began: dict[socket.socket, float] = {}  # in this order
        self._turn = threading.Lock()
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._turn:
            if len(self._began) >= _MOST_CONNECTIONS:
                self._end(next(iter(self._began)))
            self._began[request] = monotonic()
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._turn:
            self._began.pop(request, None)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        now = monotonic()
        with self._turn:
            for each, began in list(self._began.items()):
                if now - began < _CONNECTION_SECONDS:
                    break
                self._end(each)

    def _end(self, connection: socket.socket) -> None:
        """Let the connection's thread find its end; the thread then closes it."""
        del self._began[connection]
        with suppress(OSError):  # the client was faster
            connection.shutdown(socket.SHUT_RDWR)


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing: Prometheus scrapes every few seconds."""


def serves_live(settings: ServerSettings) -> bool:
    """Return whether the settings ask for /live."""
    return settings.live and settings.metrics_port is not None


def serve(
    settings: ServerSettings,
    registry: CollectorRegistry,
    not_ready: Callable[[], Sequence[str]],
    live: WSGIApplication,
) -> HttpServer:
    """Serve on `metrics_host` and `metrics_port`, which is set; see `HttpServer`.

    `live` answers /live, if the settings ask for it.

    Raises
    ------
    IlnError
        When the address can't be listened on.

    """
    host, port = settings.metrics_host, settings.metrics_port
    assert port is not None
    routes = {"/live": for_this_host(read_only(live), host)} if serves_live(settings) else {}
    try:
        return HttpServer(host, port, registry, not_ready, routes)
    except OSError as error:
        raise IlnError(
            f"metrics_host = {host}, metrics_port = {port}: {error.strerror}; choose another port, "
            "or 0 for a free one"
        ) from error


_STOP_SECONDS = 5.0


class Page:
    """Runs the page as a child process, which ends with this one, however it ends.

    Learning goes on if the child fails. `learner` is the address of the learner's HTTP server.

    Raises
    ------
    IlnError
        When the port can't be listened on, or the extra `api` is missing.

    """

    def __init__(self, settings: ServerSettings, learner: str, log_format: str) -> None:
        host, port = settings.metrics_host, settings.page_port
        assert port is not None
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            listening = socket.create_server((host, port), family=family, backlog=128)
        except OSError as error:
            raise IlnError(
                f"metrics_host = {host}, page_port = {port}: {why_not(error)}; choose another "
                "port, or 0 for a free one"
            ) from error
        with listening:
            name = f"[{host}]" if ":" in host else host
            self.url = f"http://{name}:{listening.getsockname()[1]}"
            # The child ends when its standard input does: also when this process is killed.
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [
                    *(sys.executable, "-m", "iln_stream.cli.page_process"),
                    *(str(listening.fileno()), learner, log_format),
                ],
                stdin=subprocess.PIPE,
                pass_fds=[listening.fileno()],
                start_new_session=True,  # Ctrl-C is for this process
            )
        self._closing = False
        self._watcher = threading.Thread(target=self._watch, name="page", daemon=True)
        self._watcher.start()
        log.info("page at %s", self.url)

    def close(self) -> None:
        """Stop the child."""
        self._closing = True
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._watcher.join()

    def _watch(self) -> None:
        code = self._process.wait()
        if not self._closing:
            log.error("the page ended with exit code %d; learning goes on without it", code)


def check_page(settings: ServerSettings) -> None:
    """Check that the settings allow for a page.

    Raises
    ------
    SettingsError
        Names the setting.

    """
    if settings.page_port is None:
        return
    if not serves_live(settings):
        raise SettingsError("page_port: the page reads /live; set metrics_port and live")
    missing = [name for name in ("httpx", "starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise SettingsError(
            f"page_port: {missing[0]} is not installed: pip install 'iln-stream[api]'"
        )
