"""What our learners report: their metrics, each read on demand."""

from collections.abc import Callable, Sequence
from math import inf
from threading import Lock
from time import monotonic
from typing import Any

from iln_stream.reporting import FlagSpec, MetricSpec

SHRUNK = FlagSpec(
    "shrunk",
    "iln_shrink_frequency",
    "Shrinks per labelled event, over the latest window of labelled events.",
)

_SHRUNK = (SHRUNK.name,)

MOST_INPUTS = 20
"""Number of inputs whose relevance is exported: Prometheus keeps a series for each."""


def algorithm_1_flags(update: Any) -> tuple[str, ...]:
    """Return the flags of an update of Algorithm 1; none without an update."""
    return _SHRUNK if update is not None and update.shrunk else ()


def algorithm_1_metrics(learner: Callable[[], Any]) -> Sequence[MetricSpec]:
    """Return the metrics of Algorithm 1, read from the learner that `learner` returns then.

    A learner's `restore` may replace the one that it contains.
    """
    return (
        MetricSpec(
            "iln_alpha_l1",
            "gauge",
            "||alpha||_1, the sum of |alpha_i|.",
            lambda: learner().alpha_l1,
        ),
    )


def columns_metrics(learner: Any) -> Sequence[MetricSpec]:
    """Return the metrics of a learner that assigns each input name a column."""
    return (
        MetricSpec(
            "iln_inputs_overflowed_total",
            "counter",
            "Inputs of learned events ignored because all max_columns columns were taken.",
            lambda: learner.n_overflowed,
        ),
    )


def hashing_metrics(learner: Any) -> Sequence[MetricSpec]:
    """Return the metrics of a learner that hashes categories without a column."""
    return (
        MetricSpec(
            "iln_hashed_names",
            "gauge",
            "Estimated number of distinct names that were hashed, within about 3 %.",
            lambda: learner.n_hashed_names,
        ),
        MetricSpec(
            "iln_hashed_cells_occupied_ratio",
            "gauge",
            "Share of the cells for hashed names that are occupied; a new name shares a cell with "
            "this probability.",
            lambda: learner.occupied_cells,
        ),
    )


def expert_metrics(learner: Any) -> Sequence[MetricSpec]:
    """Return the metrics of a learner that mixes experts."""
    return (
        MetricSpec(
            "iln_expert_weight",
            "gauge",
            "Weight of each expert in the prediction; they sum to one.",
            lambda: learner.expert_weights,
            "expert",
        ),
        MetricSpec(
            "iln_input_relevance_ratio",
            "gauge",
            "Share of an input in how far inputs move predictions; the most relevant inputs.",
            seldom(most_relevant(lambda: learner.relevance)),
            "input",
        ),
    )


def mixture_metrics(learner: Any) -> Sequence[MetricSpec]:
    """Return the metrics of `InfiniteLayerRegressor`, with Algorithm 1's if it is an expert."""
    has_algorithm_1 = learner.first_order is not None
    return (
        MetricSpec(
            "iln_recent_error_ratio",
            "gauge",
            "Mean |error| of about the last 50 events over that of the last 1000; about 1 if "
            "steady.",
            lambda: learner.drift,
        ),
        *(algorithm_1_metrics(lambda: learner.first_order) if has_algorithm_1 else ()),
        *expert_metrics(learner),
        *reset_metrics(learner),
        *columns_metrics(learner),
        *hashing_metrics(learner),
    )


def reset_metrics(learner: Any) -> Sequence[MetricSpec]:
    """Return the metrics of a learner whose parts heal."""
    return (
        MetricSpec(
            "iln_parts_reset_total",
            "counter",
            "How often a part was reinitialised because it was not finite or out of bounds.",
            lambda: learner.resets,
            "part",
        ),
    )


def seldom(read: Callable[[], dict[Any, float]]) -> Callable[[], dict[Any, float]]:
    """Return a reader that repeats its last value for 100 times as long as it took to read.

    One thread reads at a time; others get the last value meanwhile.
    """
    found: dict[Any, float] = {}
    due, turn = -inf, Lock()

    def read_seldom() -> dict[Any, float]:
        nonlocal found, due
        if monotonic() >= due and turn.acquire(blocking=False):
            try:
                begun = monotonic()
                found = read()
                due = monotonic() + 100.0 * (monotonic() - begun)
            finally:
                turn.release()
        return found

    return read_seldom


def most_relevant(read: Callable[[], dict[Any, float]]) -> Callable[[], dict[Any, float]]:
    """Return a reader of the `MOST_INPUTS` largest shares."""

    def read_most_relevant() -> dict[Any, float]:
        shares = sorted(read().items(), key=lambda item: item[1], reverse=True)
        return dict(shares[:MOST_INPUTS])

    return read_most_relevant
