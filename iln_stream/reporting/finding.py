"""Finding the parts of a model that report."""

from collections.abc import Iterator, Sequence
from typing import Any

from iln_stream.reporting.protocol import MetricSpec, Reporting


def find_reporter(model: Any) -> Reporting | None:
    """Return the outermost part of a model that reports, None if none does.

    Looks into the last step of a pipeline and into the learner that a wrapper wraps.
    """
    while model is not None:
        # Look at the type: in River a pipeline is also an instance of its last step's class.
        if all(hasattr(type(model), name) for name in ("flags", "report", "metrics")):
            return model  # type: ignore[no-any-return]
        if isinstance(steps := getattr(model, "steps", None), dict):  # a River pipeline
            model = next(reversed(steps.values()), None)
        else:
            # Not `model`: in an ensemble this is a template that never learns.
            model = getattr(model, "regressor", None)
    return None


def find_metrics(model: Any) -> Sequence[MetricSpec]:
    """Return the metrics of the model's reporter, and of the transformers before it.

    Counters of the same name are added up: in a pipeline, a scaler and a learner may each ignore
    some inputs.
    """
    by_name: dict[str, list[MetricSpec]] = {}
    for part in _with_metrics(model):
        for spec in part.metrics():
            by_name.setdefault(spec.name, []).append(spec)
    return [specs[0] if len(specs) == 1 else _sum(specs) for specs in by_name.values()]


def _with_metrics(model: Any) -> Iterator[Any]:
    """Yield the parts of a model that have metrics, in the order in which they see an event."""
    if hasattr(type(model), "metrics"):
        yield model
    elif isinstance(steps := getattr(model, "steps", None), dict):
        for step in steps.values():
            yield from _with_metrics(step)
    elif (regressor := getattr(model, "regressor", None)) is not None:
        yield from _with_metrics(regressor)


def _sum(specs: Sequence[MetricSpec]) -> MetricSpec:
    reads = [spec.read for spec in specs]

    def total() -> float:
        return sum(read() or 0.0 for read in reads)  # type: ignore[misc]

    return specs[0]._replace(read=total)
