"""The metrics of several processes as those of one."""

import threading
from collections.abc import Iterator

from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from iln_stream.supervising.counters import SteadyCounters
from iln_stream.supervising.scraping import Scraper
from iln_stream.supervising.supervisor import Supervisor


class MergedMetrics(Collector):
    """Asks each worker for its metrics, and puts the samples of a name together.

    Samples keep their labels: those of different workers have to differ in one. A worker that does
    not answer has no samples until it does. Counters never go back (`SteadyCounters`).

    Parameters
    ----------
    supervisor
        Has the workers.
    scraper
        Asks them.

    """

    def __init__(self, supervisor: Supervisor, scraper: Scraper) -> None:
        self._supervisor = supervisor
        self._scraper = scraper
        self._counters = [SteadyCounters() for _ in supervisor.workers]
        self._one_at_a_time = threading.Lock()

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of all workers."""
        with self._one_at_a_time:
            yield from self._merged().values()

    def _merged(self) -> dict[str, Metric]:
        workers = self._supervisor.workers
        children = [worker.child for worker in workers]
        answers = self._scraper.ask([worker.url("/metrics") for worker in workers])
        found: dict[str, Metric] = {}
        for child, answer, counters in zip(children, answers, self._counters, strict=True):
            if child is None or answer is None or answer.status != 200:
                continue
            families = text_string_to_metric_families(answer.text)
            for family in counters.steady(child.pid, families, child.counters_of_process):
                found.setdefault(family.name, family)
                if found[family.name] is not family:
                    found[family.name].samples.extend(family.samples)
        return found
