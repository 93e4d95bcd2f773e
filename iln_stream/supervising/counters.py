"""Counters that never go back, though the process that counts is restarted."""

from collections.abc import Collection, Iterable, Iterator

from prometheus_client.core import Metric

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
    >>> from iln_stream.supervising.counters import SteadyCounters
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

        Parameters
        ----------
        process
            Identifies the process, which began at its counts.
        families
            Its metrics.
        of_process
            Names of its counters that began at 0 with it.

        """
        if process != self._process:
            self._process = process
            self._before = dict(self._shown)
        for family in families:
            if family.type in ("counter", "histogram"):
                adds = family.type == "histogram" or f"{family.name}_total" in of_process
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
