"""One learner, one source, its listeners, and /metrics: what runs in production."""

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any

from prometheus_client import start_http_server
from prometheus_client.registry import CollectorRegistry
from rich.console import Console

from iln_stream.errors import IlnError
from iln_stream.listeners import DeadLetterWriter, Metrics, PredictionWriter, Progress
from iln_stream.prequential import Listener, PrequentialLoop
from iln_stream.service.build import (
    build_learner,
    build_sink,
    build_source,
    check_addresses,
    dead_letters_address,
)
from iln_stream.service.settings import Settings

log = logging.getLogger(__name__)


class Service:
    """Everything that `iln-stream run` runs.

    Parameters
    ----------
    settings
        What to run.
    console
        Where progress is drawn, if it is a terminal; None: nowhere.

    """

    def __init__(self, settings: Settings, console: Console | None = None) -> None:
        check_addresses(settings)
        self.settings = settings
        self.registry = CollectorRegistry()
        self.learner = build_learner(settings)
        self.source = build_source(settings)
        self.watched = Metrics(self.registry, settings.window).watch(
            self.learner, self.source, settings.model
        )
        # Writers first: what was counted has been handed over.
        listeners: list[Listener] = [*self._writers(), self.watched]
        if console is not None:
            listeners.append(Progress(settings.source, self.source.lag, console))
        self.loop = PrequentialLoop(self.source, self.learner, listeners)
        self._metrics_server: Any = None

    def _writers(self) -> list[Listener]:
        settings, source = self.settings, self.source
        writers: list[Listener] = [
            DeadLetterWriter(build_sink(dead_letters_address(settings), settings))
        ]
        if settings.predictions is not None:
            sink = build_sink(settings.predictions, settings)
            writers.append(PredictionWriter(sink, source.stream, source.partition))
        return writers

    @property
    def metrics_url(self) -> str | None:
        """Where /metrics is while the service runs."""
        if self._metrics_server is None:
            return None
        host, port = self._metrics_server.server_address[:2]
        return f"http://{host}:{port}/metrics"

    def serve_metrics(self) -> None:
        """Begin to answer Prometheus."""
        settings = self.settings
        if settings.metrics_port is None or self._metrics_server is not None:
            return
        try:
            self._metrics_server, _ = start_http_server(
                settings.metrics_port, settings.metrics_host, registry=self.registry
            )
        except OSError as error:
            raise IlnError(
                f"metrics_host = {settings.metrics_host}, metrics_port = {settings.metrics_port}: "
                f"{error.strerror}; choose another port, or 0 for a free one"
            ) from error
        log.info("metrics at %s", self.metrics_url)

    def run(self) -> None:
        """Learn until the source ends or SIGINT or SIGTERM arrives; then close everything."""
        try:
            self.serve_metrics()
            with self._signals_heeded():
                self.loop.run()
        finally:
            self.close()

    def close(self) -> None:
        """Flush the listeners' sinks, leave the source, stop answering Prometheus.

        All of it is done even if some of it fails.
        """
        with ExitStack() as last_first:
            last_first.callback(self.stop_metrics)
            last_first.callback(self.source.close)
            for listener in reversed(self.loop.listeners):
                last_first.callback(listener.close)

    def stop_metrics(self) -> None:
        """Stop answering Prometheus."""
        if self._metrics_server is not None:
            self._metrics_server.shutdown()
            self._metrics_server.server_close()
            self._metrics_server = None

    @contextmanager
    def _signals_heeded(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield  # signals are the main thread's; whoever runs us elsewhere calls `loop.stop`
            return
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self._on_signal) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        log.info("%s: finishing the event at hand", signal.Signals(number).name)
        self.loop.stop()
