"""Several processes that share the partitions of a run."""

import json
import logging
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any, NamedTuple, Self

from prometheus_client.core import Metric
from prometheus_client.registry import CollectorRegistry
from rich.console import Console

from iln_stream.service.checks import check_settings
from iln_stream.service.http import HttpServer, Page, serve, stop_on_signals
from iln_stream.service.merged import MergedMetrics, Scraper, merged_live_route
from iln_stream.service.settings import Settings
from iln_stream.service.streams import chosen_partitions, prepared_source, readers
from iln_stream.service.supervisor import RestartPolicy, Supervisor
from iln_stream.settings import SettingsError

log = logging.getLogger(__name__)


@contextmanager
def progress_logged(
    collect: Callable[[], Iterable[Metric]],
    shares: Sequence[Sequence[int]],
    seconds: float = 30.0,
) -> Iterator[None]:
    """Log a line from time to time: events and lag of each worker.

    `shares` has the partitions of each worker; there are `seconds` from one line to the next.
    """
    closed = threading.Event()

    def work() -> None:
        while not closed.wait(seconds):
            log.info(progress_line(collect(), shares))  # no line repeats another

    thread = threading.Thread(target=work, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        closed.set()
        thread.join()


def progress_line(families: Iterable[Metric], shares: Sequence[Sequence[int]]) -> str:
    """Return how many events each worker has predicted, and how many records wait for it.

    Examples
    --------
    >>> from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
    >>> from iln_stream.service.worker_processes import progress_line
    >>> events = CounterMetricFamily("iln_events", "Of the example.", labels=["partition"])
    >>> lag = GaugeMetricFamily("iln_consumer_lag_records", "Of the example.", labels=["partition"])
    >>> for partition in range(3):
    ...     events.add_metric([str(partition)], 1000)
    ...     lag.add_metric([str(partition)], partition)
    >>> progress_line([events, lag], [(0, 2), (1,)])
    '3,000 events; worker 0: 2,000, 2 to go; worker 1: 1,000, 1 to go'

    """
    worker_of = {str(partition): i for i, own in enumerate(shares) for partition in own}
    totals = {
        "iln_events_total": [0.0] * len(shares),
        "iln_consumer_lag_records": [0.0] * len(shares),
    }
    for family in families:
        for sample in family.samples:
            if sample.name in totals:
                totals[sample.name][worker_of[sample.labels["partition"]]] += sample.value
    parts = [f"{sum(totals['iln_events_total']):,.0f} events"]
    for i, (n, lag) in enumerate(zip(*totals.values(), strict=True)):
        parts.append(f"worker {i}: {n:,.0f}, {lag:,.0f} to go")
    return "; ".join(parts)


# -P: modules in the current folder come last, as with the command `iln-stream`.
_COMMAND = (sys.executable, "-P", "-m", "iln_stream.cli.worker_process")


class WorkerJob(NamedTuple):
    """What a worker process does."""

    number: int  # number of the process, from 0
    values: Mapping[str, Any]  # values of its settings
    given: frozenset[str]  # names of the settings that were given
    accept_loss: bool = False  # as of `Service`

    @classmethod
    def of(
        cls, number: int, settings: Settings, partitions: Sequence[int], accept_loss: bool
    ) -> Self:
        """Return the job of a process for some partitions.

        Only the supervisor reads its metrics.
        """
        values = {name: getattr(settings, name) for name in Settings.model_fields} | {
            "partitions": ",".join(map(str, partitions)),
            "workers": 1,
            "metrics_host": "127.0.0.1",
            "metrics_port": None if settings.metrics_port is None else 0,
            "page_port": None,
        }
        return cls(number, values, frozenset(settings.model_fields_set), accept_loss)

    @property
    def settings(self) -> Settings:
        """The settings: those of the supervisor, whatever a file or a variable says by now."""
        return Settings.model_construct(set(self.given), **self.values)


class WorkerProcesses:
    """Runs `iln-stream run --workers N`: a supervisor of N processes.

    Each process learns a fixed share of the partitions as a run with `--partitions` would, in the
    same folders: a learner does not depend on which process has it. Without a console, progress is
    not logged. `policy` says how often a process that fails is restarted.
    """

    def __init__(
        self,
        settings: Settings,
        console: Console | None = None,
        policy: RestartPolicy | None = None,
        *,
        accept_loss: bool = False,
    ) -> None:
        check_settings(settings)
        self._settings = settings
        stream = prepared_source(settings)
        readers(settings, stream)  # refuses what no process could read
        shares = shares_of(chosen_partitions(settings, stream), settings.workers)
        jobs = [WorkerJob.of(i, settings, s, accept_loss) for i, s in enumerate(shares)]
        names = [f"worker {i} (partitions {','.join(map(str, s))})" for i, s in enumerate(shares)]
        self.supervisor = Supervisor(_COMMAND, jobs, names, policy)
        self._scraper = Scraper(len(jobs))
        self._registry = CollectorRegistry()
        self._metrics = MergedMetrics(self.supervisor, self._scraper)
        self._registry.register(self._metrics)
        self._progress: AbstractContextManager[None] = nullcontext()
        if console is not None and settings.metrics_port is not None:
            self._progress = progress_logged(self._metrics.collect, shares)
        self._http: HttpServer | None = None

    @property
    def metrics_url(self) -> str | None:
        """URL of /metrics while the processes run."""
        return None if self._http is None else f"{self._http.url}/metrics"

    def not_ready(self) -> list[str]:
        """Return why events can't be learned now, one reason per worker that waits or more."""
        workers = self.supervisor.workers
        answers = self._scraper.ask([worker.url("/ready") for worker in workers])
        reasons: list[str] = []
        for worker, answer in zip(workers, answers, strict=True):
            if worker.is_over:
                continue
            if worker.child is None:
                reasons.append(f"{worker.name} waits to be started again")
            elif answer is None:
                reasons.append(f"{worker.name} does not answer yet")
            elif answer.status != 200:
                reasons += [f"{worker.name}: {each}" for each in answer.text.splitlines()]
        return reasons

    def run(self) -> None:
        """Learn until the source ends, or until SIGINT or SIGTERM arrives.

        Raises
        ------
        IlnError
            When a process fails for good, with its message.

        """
        settings = self._settings
        with ExitStack() as opened:
            opened.callback(self._scraper.close)
            if settings.metrics_port is not None:
                opened.enter_context(self._served())
            opened.enter_context(self._progress)
            with stop_on_signals(self.supervisor.stop):
                self.supervisor.run()

    @contextmanager
    def _served(self) -> Iterator[None]:
        settings, n = self._settings, len(self.supervisor.workers)
        live = merged_live_route(self._ask_live, n, self.not_ready)
        self._http = serve(settings, self._registry, self.not_ready, live)
        with ExitStack() as opened:
            opened.callback(self._http.close)
            log.info("metrics at %s", self.metrics_url)
            if settings.page_port is not None:
                opened.callback(Page(settings, self._http.url, settings.log_format).close)
            yield

    def _ask_live(self, queries: Sequence[str]) -> list[dict[str, Any] | None]:
        workers = self.supervisor.workers
        urls = [w.url(f"/live?{query}") for w, query in zip(workers, queries, strict=True)]
        return [
            json.loads(answer.text) if answer is not None and answer.status == 200 else None
            for answer in self._scraper.ask(urls)
        ]


def shares_of(partitions: Sequence[int], n: int) -> list[tuple[int, ...]]:
    """Return the partitions of each of n processes.

    Process i has the partitions with the index i modulo n, so that shares differ by one at most.

    Raises
    ------
    SettingsError
        When there are fewer partitions than processes.

    Examples
    --------
    >>> from iln_stream.service.worker_processes import shares_of
    >>> shares_of(range(5), 2)
    [(0, 2, 4), (1, 3)]

    """
    if n > len(partitions):
        raise SettingsError(
            f"workers = {n}: more than there are partitions ({len(partitions)}), and a partition "
            f"is learned in one process: set workers to {len(partitions)} at most, or give the "
            "topic more partitions"
        )
    return [tuple(partitions[i::n]) for i in range(n)]
