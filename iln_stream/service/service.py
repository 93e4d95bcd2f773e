"""The service: one worker per learner, and the HTTP server."""

import gc
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack

from prometheus_client import ProcessCollector
from prometheus_client.registry import CollectorRegistry
from rich.console import Console

from iln_stream._version import __version__
from iln_stream.kernels.cpu import BASELINES, VARIABLE, pinned
from iln_stream.loop import Listener
from iln_stream.loop.live import LiveModel, live_route
from iln_stream.loop.metrics import Metrics, partition_label
from iln_stream.loop.progress import HistoryProgress, WarmUpProgress
from iln_stream.reporting import MetricSpec
from iln_stream.service.checks import check_settings
from iln_stream.service.http import HttpServer, Page, serve, stop_on_signals
from iln_stream.service.learners import load_plugin
from iln_stream.service.settings import Settings
from iln_stream.service.streams import (
    Outputs,
    Reader,
    dead_letters_address,
    prepared_source,
    readers,
)
from iln_stream.service.warm_start import warm_readers
from iln_stream.service.warming import Warmings
from iln_stream.service.worker import Worker, model_name
from iln_stream.settings import SettingsError


def ready_metric(not_ready: Callable[[], Sequence[str]]) -> MetricSpec:
    """Return the metric that says whether events can be learned now.

    `not_ready` returns why they can't: one reason each, as in /ready.
    """
    return MetricSpec(
        "iln_ready",
        "gauge",
        "1 while /ready says ready, else 0: the learner compiles, learns history files, warms up "
        "challengers, or waits for a broker.",
        lambda: float(not not_ready()),
    )


def build_metric(learner: str) -> MetricSpec:
    """Return the metric that says which release runs, with which learner."""
    return MetricSpec(
        "iln_build_info",
        "gauge",
        "1, with the release and the learner of the run.",
        lambda: {(__version__, learner): 1.0},
        ("version", "learner"),
    )


LISTENERS = "iln_stream.listeners"
"""Group of entry points by which other packages add listeners."""


def build_listeners(settings: Settings, given: Sequence[Listener] = ()) -> list[Listener]:
    """Return the user's listeners: `given`, then those that `listeners` names."""
    paths = [path.strip() for path in (settings.listeners or "").split(",") if path.strip()]
    found = [load_plugin("listeners", path, LISTENERS) for path in paths]
    named = [each() if callable(each) else each for each in found]
    for path, listener in zip(paths, named, strict=True):
        if not isinstance(listener, Listener):
            raise SettingsError(f"listeners: {path} is no Listener, but {type(listener).__name__}")
    return [*given, *named]


log = logging.getLogger(__name__)

_SECONDS_TO_SIGNAL = 0.5
"""Longest time from a signal to its handler."""

_OBJECTS = 10_000
"""New objects from one collection of garbage to the next; the usual 700 cost a run 3 %."""


class Service:
    """Runs `iln-stream run` in one process; `WorkerProcesses` runs one in each of several.

    Parameters
    ----------
    settings
        Settings of the run.
    console
        Shows progress if it is a terminal, else the log does; None: no progress.
    listeners
        Your own listeners, called after ours. With several learners, each listener is called from
        several threads.
    serves
        Called with the URL of the HTTP server once it listens; None: the URL is logged.
    accept_loss
        Go on even if retention deleted records before they were learned.

    """

    def __init__(
        self,
        settings: Settings,
        console: Console | None = None,
        listeners: Sequence[Listener] = (),
        serves: Callable[[str], None] | None = None,
        *,
        accept_loss: bool = False,
    ) -> None:
        check_settings(settings)
        self.settings = settings
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.workers: list[Worker] = []
        self.was_stopped = False
        self._serves = serves
        self._http: HttpServer | None = None
        self._page: Page | None = None
        self._history: HistoryProgress | WarmUpProgress | None = None  # while it is learned
        stream = prepared_source(settings)
        # A wrong address is an error before outputs create anything.
        n_partitions = len(stream.partitions()) if stream.is_log else 1
        parts = readers(settings, stream, accepts_loss=accept_loss)
        self.metrics = metrics = Metrics(self.registry, settings.window)

        def labels_of(reader: Reader) -> tuple[str, str]:
            model = model_name(settings, stream.name, reader.horizon)
            return model, partition_label(reader.partitions)

        for each_reader in parts:  # before there is a learner
            always = [ready_metric(self.not_ready), build_metric(settings.learner)]
            metrics.export(labels_of(each_reader), always)

        def watch(reader: Reader) -> HistoryProgress:
            progress = self._history = HistoryProgress(len(settings.warm_start))
            metrics.export(labels_of(reader), progress.metrics())
            self.serve_metrics()
            return progress

        def watch_warm_up(progress: WarmUpProgress) -> None:
            self._history = progress
            self.serve_metrics()

        with ExitStack() as opened:
            opened.callback(self.stop_metrics)
            if settings.warm_start:
                for warmed in warm_readers(settings, stream, parts, console, watch):
                    log.info(warmed.summary)
            own = build_listeners(settings, listeners)
            outputs = Outputs(settings, n_partitions)
            opened.callback(outputs.close)
            for reader in parts:
                drawn_on = None if self.workers else console
                worker = Worker(
                    settings, stream, reader, metrics, outputs, own, drawn_on, watch=watch_warm_up
                )
                opened.callback(worker.close)
                self.workers.append(worker)
            self._warming = Warmings.of(self.workers[0].learner, console)
            self._history = None
            self._opened = opened.pop_all()

    @property
    def page_url(self) -> str | None:
        """URL of the page while the service runs."""
        return None if self._page is None else self._page.url

    @property
    def metrics_url(self) -> str | None:
        """URL of /metrics while the service runs."""
        return None if self._http is None else f"{self._http.url}/metrics"

    def not_ready(self) -> list[str]:
        """Return why events can't be learned now, one reason per learner that waits."""
        if self._history is not None:
            return [self._history.state]
        if not self._warming.is_done:
            return [self._warming.progress]
        return [
            f"{name}, partition {each.watched.labels[1]}: the broker is unreachable, or the topic "
            "was deleted"
            for each in self.workers
            for name in each.waits_for
        ]

    def serve_metrics(self) -> None:
        """Start the HTTP server of /metrics, /ready, /health and /live, and the page."""
        settings = self.settings
        if settings.metrics_port is None or self._http is not None:
            return
        live = live_route(self._live, self.not_ready)
        self._http = serve(settings, self.registry, self.not_ready, live)
        if self._serves is None:
            log.info("metrics at %s", self.metrics_url)
        else:
            self._serves(self._http.url)
        if settings.page_port is not None:
            self._page = Page(settings, self._http.url, settings.log_format)

    def run(self) -> None:
        """Learn until the sources end or SIGINT or SIGTERM arrives; then close everything."""
        thresholds = gc.get_threshold()
        try:
            with stop_on_signals(self._stop):  # first: who sees the metrics may send a signal
                self.serve_metrics()
                log.info(_described(self.settings))
                if self.settings.snapshots is not None:
                    log.debug(_cpu_baseline())
                self._warming.run()
                # Modules and compiled code stay: collections of garbage need not visit them.
                gc.freeze()
                if 0 < thresholds[0] < _OBJECTS:  # 0: the user wants no collections
                    gc.set_threshold(_OBJECTS, *thresholds[1:])
                run_together(self.workers)
        finally:
            gc.set_threshold(*thresholds)
            gc.unfreeze()
            self.close()

    def close(self) -> None:
        """Flush the sinks, close the sources, stop the HTTP server.

        Each is done even if another fails.
        """
        self._opened.close()

    def stop_metrics(self) -> None:
        """Stop the page and the HTTP server."""
        if self._page is not None:
            self._page.close()
            self._page = None
        if self._http is not None:
            self._http.close()
            self._http = None

    def _live(self) -> list[LiveModel]:
        return [each.live for each in self.workers if each.live is not None]

    def _stop(self) -> None:
        self.was_stopped = True
        self._warming.stop()
        for worker in self.workers:
            worker.loop.stop()


def _described(settings: Settings) -> str:
    parts = [f"learning from {settings.source_address} with {settings.learner}"]
    if settings.labels is not None:
        parts.append(f"labels from {settings.labels}")
    if settings.predictions is not None:
        parts.append(f"predictions to {settings.predictions}")
    parts.append(f"dead letters to {dead_letters_address(settings)}")
    if settings.snapshots is not None:
        parts.append(f"snapshots in {settings.snapshots}")
    return "; ".join(parts)


def _cpu_baseline() -> str:
    """Return one line on where a replay would give the same bits."""
    if (name := pinned()) is not None:
        return f"CPU baseline {name}: docs/guarantees.md says what it promises of replays"
    return (
        "no CPU baseline: a replay on another CPU may differ in the last bits; set "
        f"{VARIABLE}, for example to {next(iter(BASELINES))}, to have the same bits"
    )


def run_together(workers: Sequence[Worker]) -> None:
    """Run each worker in a thread, a single one in this thread; the first failure stops all."""
    if len(workers) == 1:
        workers[0].run()
        return
    with ThreadPoolExecutor(len(workers), thread_name_prefix="worker") as threads:
        running = [threads.submit(each.run) for each in workers]
        # Not forever: the system may hand a signal to another thread, which does not wake this one.
        while wait(running, _SECONDS_TO_SIGNAL, return_when=FIRST_EXCEPTION).not_done:
            if any(each.done() and each.exception() for each in running):
                break
        if any(each.done() and each.exception() for each in running):
            for worker in workers:
                worker.loop.stop()
    for each in running:
        each.result()
