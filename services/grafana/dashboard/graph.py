"""What a row consists of: graphs, and their queries."""

from typing import Literal, NamedTuple

LEARNER = "{{model}}/{{partition}}"


class Query(NamedTuple):
    """One PromQL expression, and the legend of its series."""

    expression: str
    legend: str = LEARNER


class Graph(NamedTuple):
    """One panel: title, description, unit, queries, and the limit of its alert if it has one."""

    title: str
    description: str
    unit: str
    queries: tuple[Query, ...]
    limit: float | None = None
    axis: Literal["from 0", "log", "free"] = "from 0"


def selected(metric: str, more: str = "") -> str:
    """Return a selector of the metric's series for the chosen models and partitions."""
    return f'{metric}{{model=~"$model", partition=~"$partition"{more and ", " + more}}}'


def errors(measure: str, over: str, of: str = ".*") -> str:
    """Return a selector of errors."""
    return selected("iln_error", f'measure=~"{measure}", over="{over}", of=~"{of}"')


def rate(counter: str, more: str = "") -> str:
    """Return the counter's increase per second."""
    return f"rate({selected(counter, more)}[$__rate_interval])"


def quantile(histogram: str, q: float) -> Query:
    """Return a quantile of what the histogram counts."""
    buckets = f"sum by (le, model, partition) ({rate(f'{histogram}_bucket')})"
    return Query(f"histogram_quantile({q}, {buckets})", f"{LEARNER} {q:.0%}")
