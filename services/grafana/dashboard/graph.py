"""What a row consists of: graphs, and their queries."""

from typing import NamedTuple

LEARNER = "{{model}}/{{partition}}"


class Query(NamedTuple):
    """One PromQL expression, and the legend of its series."""

    expression: str
    legend: str = LEARNER


class Graph(NamedTuple):
    """One panel: title, description, unit and queries."""

    title: str
    description: str
    unit: str
    queries: tuple[Query, ...]


def selected(metric: str) -> str:
    """Return a selector of the metric's series for the chosen models and partitions."""
    return f'{metric}{{model=~"$model", partition=~"$partition"}}'


def rate(counter: str) -> str:
    """Return the counter's increase per second."""
    return f"rate({selected(counter)}[$__rate_interval])"


def quantile(histogram: str, q: float) -> Query:
    """Return a quantile of what the histogram counts."""
    buckets = f"sum by (le, model, partition) ({rate(f'{histogram}_bucket')})"
    return Query(f"histogram_quantile({q}, {buckets})", f"{LEARNER} {q:.0%}")
