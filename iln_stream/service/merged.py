"""The metrics and the live state of several processes as those of one."""

import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import time
from typing import Any, NamedTuple
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from prometheus_client import ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from iln_stream.loop.live import after_of, answer_live, refuse_after, state_of
from iln_stream.service.supervisor import Supervisor

_PROCESS = "process_"

_SECONDS = 2.0
"""Time for an answer: well below the interval at which Prometheus scrapes."""


class Answer(NamedTuple):
    """What a server answered: status and text."""

    status: int
    text: str


class Scraper:
    """Asks servers of this machine, each on a thread.

    It asks n at a time.
    """

    def __init__(self, n: int) -> None:
        # Requests to this machine bypass any proxy in the environment.
        self._direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self._threads = ThreadPoolExecutor(n, thread_name_prefix="scrape")

    def ask(self, urls: Sequence[str | None]) -> list[Answer | None]:
        """Return the answer of each server; None: it gave none, or there is no URL."""
        return list(self._threads.map(self._one, urls))

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False)

    def _one(self, url: str | None) -> Answer | None:
        if url is None:
            return None
        try:
            with self._direct.open(url, timeout=_SECONDS) as response:
                return Answer(response.status, response.read().decode())
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.read().decode())
        except OSError:
            return None


_Series = tuple[str, tuple[tuple[str, str], ...]]
"""Name of a sample, and its labels."""


class SteadyCounters:
    """Corrects the counters of one worker over its restarts.

    A counter that is saved with a learner resumes at the last snapshot, and then counts again what
    is learned again: it is shown as it was until it has reached that value. A counter that begins
    at 0 with each process, as histograms do, is added to what the processes before had counted.

    Examples
    --------
    >>> from prometheus_client.core import CounterMetricFamily
    >>> from iln_stream.service.merged import SteadyCounters
    >>> counters = SteadyCounters()
    >>> def shown(process, events, retries, of_process=("retries_total",)):
    ...     families = [
    ...         CounterMetricFamily("events", "Saved.", events),
    ...         CounterMetricFamily("retries", "Begins at 0.", retries),
    ...     ]
    ...     steady = counters.steady(process, families, of_process)
    ...     return [sample.value for family in steady for sample in family.samples]
    >>> shown(1, 50, 3)
    [50, 3.0]
    >>> shown(2, 40, 0), shown(2, 60, 2)  # a second process
    ([50, 3.0], [60, 5.0])

    """

    def __init__(self) -> None:
        self._process: int | None = None
        self._shown: dict[_Series, float] = {}
        self._before: dict[_Series, float] = {}  # when the present process began

    def steady(
        self, process: int, families: Iterable[Metric], of_process: Collection[str]
    ) -> Iterator[Metric]:
        """Yield the families with corrected counters; gauges stay as they are.

        `of_process` names the counters that began at 0 with the process.
        """
        if process != self._process:
            self._process = process
            self._before = dict(self._shown)
        for family in families:
            if family.type in ("counter", "histogram"):
                adds = (
                    family.type == "histogram"
                    or f"{family.name}_total" in of_process
                    or family.name.startswith(_PROCESS)
                )
                self._correct(family, adds)
            yield family

    def _correct(self, family: Metric, adds: bool) -> None:
        for i, sample in enumerate(family.samples):
            if sample.name.endswith("_created"):
                continue
            series = sample.name, tuple(sorted(sample.labels.items()))
            if adds:
                value = sample.value + self._before.get(series, 0.0)
            else:
                value = max(sample.value, self._shown.get(series, 0.0))
            self._shown[series] = value
            family.samples[i] = sample._replace(value=value)


class MergedMetrics(Collector):
    """Asks each worker for its metrics, and puts the samples of a name together.

    Samples keep their labels: those of different workers have to differ in one, and those of a
    process (`process_cpu_seconds_total`) get the label `worker`. A worker that does
    not answer has no samples until it does. Counters never go back (`SteadyCounters`).
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
        own = ProcessCollector(registry=None).collect()
        found: dict[str, Metric] = {each.name: each for each in (up, restarts, *own)}
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
                if family.name.startswith(_PROCESS):
                    for sample in family.samples:
                        sample.labels["worker"] = label[0]
                known = found.setdefault(family.name, family)
                if known is not family:
                    known.samples.extend(family.samples)
        return found


Answers = Sequence[Mapping[str, Any] | None]


def merged_live_route(
    ask: Callable[[Sequence[str]], Answers], n: int, not_ready: Callable[[], Sequence[str]]
) -> WSGIApplication:
    """Return the application of /live, which describes the models of all processes.

    A process that does not answer is described as it was. When one is restarted, `started_at`
    changes, so that clients begin anew. `ask` gets the query for each of n processes, and returns
    what it answers at /live; None: nothing. `not_ready` returns why events can't be learned now, if
    there is a reason.
    """
    merged = _Merged(n)
    one_at_a_time = threading.Lock()

    def answer(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        reasons = not_ready()
        with one_at_a_time:
            try:
                after = after_of(environ.get("QUERY_STRING", ""), len(merged.models))
            except ValueError:
                return refuse_after(start)
            merged.update(ask(merged.queries(after)))
            models = merged.models
            state = state_of({model["state"] for model in models}, reasons)
            return answer_live(start, merged.started_at, state, models)

    return answer


class _Merged:
    """The newest answer of each process."""

    def __init__(self, n: int) -> None:
        self.started_at = time()
        self._models: list[Sequence[Mapping[str, Any]]] = [()] * n

    @property
    def models(self) -> list[Mapping[str, Any]]:
        """All models in the order of their partitions."""
        return [self._models[process][i] for process, i in self._places]

    @property
    def _places(self) -> list[tuple[int, int]]:
        """Process and index of each model, as ordered in answers."""
        places = [(process, i) for process, own in enumerate(self._models) for i in range(len(own))]
        return sorted(places, key=lambda at: int(self._models[at[0]][at[1]]["partition"]))

    def queries(self, after: Sequence[int]) -> list[str]:
        """Return the query for each process; `after` has one number for each model."""
        numbers = dict(zip(self._places, after, strict=True))
        found = []
        for process, own in enumerate(self._models):
            theirs = [str(numbers[process, i]) for i in range(len(own))]
            found.append(f"after={','.join(theirs) or '0'}")
        return found

    def update(self, answers: Answers) -> None:
        for process, answer in enumerate(answers):
            if answer is not None:
                self._models[process] = answer["models"]
                self.started_at = max(self.started_at, answer["started_at"])
