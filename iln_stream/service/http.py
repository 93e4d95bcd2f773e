"""The HTTP server: /metrics and /ready."""

import socket
import threading
from collections.abc import Callable, Iterable, Sequence
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import make_wsgi_app
from prometheus_client.registry import CollectorRegistry


class HttpServer:
    """Serves /metrics and /ready on its own thread until it is closed.

    Parameters
    ----------
    host, port
        Address to listen on; port 0 picks a free one.
    registry
        Metrics to serve.
    not_ready
        Returns why events can't be learned now; /ready answers 200 if there is no reason, else 503.

    Raises
    ------
    OSError
        When the address can't be listened on.

    """

    def __init__(
        self,
        host: str,
        port: int,
        registry: CollectorRegistry,
        not_ready: Callable[[], Sequence[str]],
    ) -> None:
        metrics = make_wsgi_app(registry)

        def answer(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
            path = environ["PATH_INFO"]
            if path == "/metrics":
                return metrics(environ, start)  # type: ignore[no-any-return]
            if path != "/ready":
                status, text = "404 Not Found", "try /metrics or /ready"
            elif reasons := not_ready():
                status, text = "503 Service Unavailable", "\n".join(reasons)
            else:
                status, text = "200 OK", "ready"
            start(status, [("Content-Type", "text/plain; charset=utf-8")])
            return [f"{text}\n".encode()]

        server = _Server6 if ":" in host else _Server
        self._server = make_server(host, port, answer, server, _QuietHandler)
        self._thread = threading.Thread(target=self._server.serve_forever, name="http", daemon=True)
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


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Server6(_Server):
    address_family = socket.AF_INET6


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing: Prometheus scrapes every few seconds."""
