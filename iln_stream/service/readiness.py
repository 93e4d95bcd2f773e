"""Whether the service is ready, as a metric."""

from collections.abc import Callable, Sequence

from iln_stream.reporting import MetricSpec


def ready_metric(not_ready: Callable[[], Sequence[str]]) -> MetricSpec:
    """Return the metric that says whether events can be learned now.

    Parameters
    ----------
    not_ready
        Returns why they can't: one reason each, as in /ready.

    """
    return MetricSpec(
        "iln_ready",
        "gauge",
        "1 while /ready says ready, else 0: the learner compiles, learns history files, warms up "
        "challengers, or waits for a broker.",
        lambda: float(not not_ready()),
    )
