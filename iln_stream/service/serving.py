"""Starts the HTTP server that the settings describe."""

from collections.abc import Callable, Mapping, Sequence
from wsgiref.types import WSGIApplication

from prometheus_client.registry import CollectorRegistry

from iln_stream.errors import IlnError
from iln_stream.service.http import HttpServer
from iln_stream.service.settings import Settings


def serve(
    settings: Settings,
    registry: CollectorRegistry,
    not_ready: Callable[[], Sequence[str]],
    routes: Mapping[str, WSGIApplication],
) -> HttpServer:
    """Serve on `metrics_host` and `metrics_port`, which is set; see `HttpServer`.

    Raises
    ------
    IlnError
        When the address can't be listened on.

    """
    host, port = settings.metrics_host, settings.metrics_port
    assert port is not None
    try:
        return HttpServer(host, port, registry, not_ready, routes)
    except OSError as error:
        raise IlnError(
            f"metrics_host = {host}, metrics_port = {port}: {error.strerror}; choose another port, "
            "or 0 for a free one"
        ) from error
