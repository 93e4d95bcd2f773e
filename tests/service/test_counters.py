"""Counters over restarts."""

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric

from iln_stream.service.merged import SteadyCounters


def shown(counters: SteadyCounters, process: int, *families: Metric) -> list[float]:
    found = counters.steady(process, families, ["own_total"])
    return [sample.value for family in found for sample in family.samples]


def test_saved_counters_wait():
    """A counter that resumes at its snapshot is shown as before until it is there again."""
    counters = SteadyCounters()
    values = [(1, 0), (1, 90), (2, 80), (2, 85), (2, 95), (3, 94), (3, 100)]
    found = [shown(counters, process, CounterMetricFamily("n", "N", v)) for process, v in values]
    assert found == [[0], [90], [90], [90], [95], [95], [100]]


def test_counters_of_the_process_add_up():
    """A counter that begins at 0 goes on from where the process before was last seen."""
    counters = SteadyCounters()
    values = [(1, 3), (2, 0), (2, 1), (3, 0), (3, 2)]
    found = [shown(counters, process, CounterMetricFamily("own", "N", v)) for process, v in values]
    assert found == [[3], [3], [4], [4], [6]]


def test_histograms_add_up():
    """Buckets, counts and sums begin at 0 with each process."""
    counters = SteadyCounters()

    def histogram(small: int, large: int, total: float) -> HistogramMetricFamily:
        buckets = [("1", small), ("+Inf", small + large)]
        return HistogramMetricFamily("h", "H", buckets=buckets, sum_value=total)

    assert shown(counters, 1, histogram(2, 1, 9.5)) == [2, 3, 3, 9.5]
    assert shown(counters, 2, histogram(1, 0, 0.5)) == [3, 4, 4, 10.0]


def test_series_are_told_apart():
    """Each combination of labels is a counter of its own, also one that is away for a time."""
    counters = SteadyCounters()

    def family(**values: float) -> CounterMetricFamily:
        made = CounterMetricFamily("n", "N", labels=["partition"])
        for partition, value in values.items():
            made.add_metric([partition], value)
        return made

    assert shown(counters, 1, family(a=5, b=7)) == [5, 7]
    assert shown(counters, 2, family(b=6)) == [7]
    assert shown(counters, 2, family(a=4, b=8)) == [5, 8]
