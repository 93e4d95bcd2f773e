"""One learner, one source, its listeners, and /metrics: what runs in production."""

import logging
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from types import FrameType

from prometheus_client.registry import CollectorRegistry
from rich.console import Console

from iln_stream.errors import IlnError
from iln_stream.listeners import Metrics, SnapshotMetrics
from iln_stream.service.build import check
from iln_stream.service.http import HttpServer
from iln_stream.service.lane import Lane
from iln_stream.service.outputs import Outputs
from iln_stream.service.partitions import first_partition, other_partitions
from iln_stream.service.settings import Settings
from iln_stream.streams import wait_for_brokers

log = logging.getLogger(__name__)


class Service:
    """Everything that `iln-stream run` runs: one learner for each partition, in one process.

    Parameters
    ----------
    settings
        What to run.
    console
        Where progress is drawn, if it is a terminal; None: nowhere.

    """

    def __init__(self, settings: Settings, console: Console | None = None) -> None:
        check(settings)
        self.settings = settings
        self.registry = CollectorRegistry()
        self.lanes: list[Lane] = []
        self._http: HttpServer | None = None
        if settings.source == "kafka":
            wait_for_brokers(settings.bootstrap, settings.broker_wait)
        with ExitStack() as opened:
            outputs = Outputs(settings)
            opened.callback(outputs.close)
            metrics = Metrics(self.registry, settings.window)
            snapshot_metrics = SnapshotMetrics(self.registry)

            def open_lane(partition: int) -> Lane:
                drawn_on = None if self.lanes else console
                lane = Lane(settings, partition, metrics, snapshot_metrics, outputs, drawn_on)
                opened.callback(lane.close)
                self.lanes.append(lane)
                return lane

            first = open_lane(first_partition(settings))
            for partition in other_partitions(settings, first.source):
                open_lane(partition)
            self._opened = opened.pop_all()

    @property
    def metrics_url(self) -> str | None:
        """Where /metrics is while the service runs."""
        return None if self._http is None else f"{self._http.url}/metrics"

    def not_ready(self) -> list[str]:
        """Return what keeps events from being learned now."""
        return [
            f"{lane.source.stream}, partition {lane.source.partition}: the broker is away"
            for lane in self.lanes
            if not lane.source.connected
        ]

    def serve_metrics(self) -> None:
        """Begin to answer Prometheus, and whoever asks whether we are ready."""
        settings = self.settings
        if settings.metrics_port is None or self._http is not None:
            return
        try:
            self._http = HttpServer(
                settings.metrics_host, settings.metrics_port, self.registry, self.not_ready
            )
        except OSError as error:
            raise IlnError(
                f"metrics_host = {settings.metrics_host}, metrics_port = {settings.metrics_port}: "
                f"{error.strerror}; choose another port, or 0 for a free one"
            ) from error
        log.info("metrics at %s", self.metrics_url)

    def run(self) -> None:
        """Learn until the sources end or SIGINT or SIGTERM arrives; then close everything."""
        try:
            self.serve_metrics()
            with self._signals_heeded():
                run_together(self.lanes)
        finally:
            self.close()

    def close(self) -> None:
        """Flush the sinks, leave the sources, stop answering Prometheus.

        All of it is done even if some of it fails.
        """
        try:
            self._opened.close()
        finally:
            self.stop_metrics()

    def stop_metrics(self) -> None:
        """Stop answering Prometheus."""
        if self._http is not None:
            self._http.close()
            self._http = None

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
        for lane in self.lanes:
            lane.loop.stop()


def run_together(lanes: Sequence[Lane]) -> None:
    """Run each lane in a thread, but a single one here; the first that fails stops the others."""
    if len(lanes) == 1:
        lanes[0].run()
        return
    with ThreadPoolExecutor(len(lanes), thread_name_prefix="lane") as threads:
        running = [threads.submit(lane.run) for lane in lanes]
        wait(running, return_when=FIRST_EXCEPTION)
        if any(each.done() and each.exception() for each in running):
            for lane in lanes:
                lane.loop.stop()
    for each in running:
        each.result()
