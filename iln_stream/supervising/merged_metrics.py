"""The metrics of several processes as those of one."""

import threading
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
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
        self._workers = supervisor.workers
        self._scraper = scraper
        self._counters = [SteadyCounters() for _ in self._workers]
        self._one_at_a_time = threading.Lock()

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of all workers, and whether they answer."""
        with self._one_at_a_time:
            yield from self._collected().values()

    def _collected(self) -> dict[str, Metric]:
        up = GaugeMetricFamily(
            "iln_worker_up",
            "1 if the process of this worker runs and answers, else 0; none once it has finished.",
            labels=["worker"],
        )
        restarts = CounterMetricFamily(
            "iln_worker_restarts_total",
            "How often the process of this worker was restarted after a failure.",
            labels=["worker"],
        )
        found: dict[str, Metric] = {each.name: each for each in (up, restarts)}
        children = [worker.child for worker in self._workers]
        answers = self._scraper.ask([worker.url("/metrics") for worker in self._workers])
        for worker, child, answer in zip(self._workers, children, answers, strict=True):
            label = [str(worker.number)]
            restarts.add_metric(label, worker.restarts.n)
            if worker.is_over:
                continue
            answers_well = child is not None and answer is not None and answer.status == 200
            up.add_metric(label, float(answers_well))
            if child is None or answer is None or not answers_well:
                continue
            families = text_string_to_metric_families(answer.text)
            counters = self._counters[worker.number]
            for family in counters.steady(child.pid, families, child.counters_of_process):
                known = found.setdefault(family.name, family)
                if known is not family:
                    known.samples.extend(family.samples)
        return found
