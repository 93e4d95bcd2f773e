"""Logs how far several worker processes are."""

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Self

from prometheus_client.core import Metric

log = logging.getLogger(__name__)


class WorkerProgress:
    """Logs a line from time to time while it is open: events and lag of each worker.

    Parameters
    ----------
    collect
        Returns the metrics of all workers.
    shares
        Partitions of each worker.
    seconds
        From one line to the next.

    """

    def __init__(
        self,
        collect: Callable[[], Iterable[Metric]],
        shares: Sequence[Sequence[int]],
        seconds: float = 10.0,
    ) -> None:
        self._collect = collect
        self._shares = shares
        self._seconds = seconds
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closed.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._closed.wait(self._seconds):
            log.info(progress_line(self._collect(), self._shares))  # no line repeats another


def progress_line(families: Iterable[Metric], shares: Sequence[Sequence[int]]) -> str:
    """Return how many events each worker has predicted, and how many records wait for it.

    Examples
    --------
    >>> from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
    >>> from iln_stream.service.worker_progress import progress_line
    >>> events = CounterMetricFamily("iln_events", "Of the example.", labels=["partition"])
    >>> lag = GaugeMetricFamily("iln_consumer_lag", "Of the example.", labels=["partition"])
    >>> for partition in range(3):
    ...     events.add_metric([str(partition)], 1000)
    ...     lag.add_metric([str(partition)], partition)
    >>> progress_line([events, lag], [(0, 2), (1,)])
    '3,000 events; worker 0: 2,000, 2 to go; worker 1: 1,000, 1 to go'

    """
    worker_of = {str(partition): i for i, own in enumerate(shares) for partition in own}
    totals = {"iln_events_total": [0.0] * len(shares), "iln_consumer_lag": [0.0] * len(shares)}
    for family in families:
        for sample in family.samples:
            if sample.name in totals:
                totals[sample.name][worker_of[sample.labels["partition"]]] += sample.value
    parts = [f"{sum(totals['iln_events_total']):,.0f} events"]
    for i, (n, lag) in enumerate(zip(*totals.values(), strict=True)):
        parts.append(f"worker {i}: {n:,.0f}, {lag:,.0f} to go")
    return "; ".join(parts)
