"""What the service answers over HTTP: /metrics, and /ready."""

import socket
import threading
from collections.abc import Callable, Iterable, Sequence
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import make_wsgi_app
from prometheus_client.registry import CollectorRegistry


class HttpServer:
    """Answers on a thread of its own until it is closed.

    Parameters
    ----------
    host, port
        Address to listen on; port 0 takes a free one.
    registry
        What /metrics tells.
    not_ready
        Returns why no events can be learned now, or nothing; /ready then answers 503, or 200.

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
                status, said = "404 Not Found", "there are /metrics and /ready"
            elif reasons := not_ready():
                status, said = "503 Service Unavailable", "\n".join(reasons)
            else:
                status, said = "200 OK", "ready"
            start(status, [("Content-Type", "text/plain; charset=utf-8")])
            return [f"{said}\n".encode()]

        kind = _Server6 if ":" in host else _Server
        self._server = make_server(host, port, answer, kind, _Quiet)
        self._thread = threading.Thread(target=self._server.serve_forever, name="http", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Address of the server."""
        host, port = self._server.server_address[:2]
        return f"http://[{host!s}]:{port}" if ":" in str(host) else f"http://{host!s}:{port}"

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Server6(_Server):
    address_family = socket.AF_INET6


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: a scrape every few seconds is no news."""
