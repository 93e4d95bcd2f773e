"""The metrics of a contest."""

from collections.abc import Callable, Sequence
from typing import Any

from iln_stream.contest.standing import Standing
from iln_stream.reporting import MetricSpec


def contest_metrics(contest: Any) -> Sequence[MetricSpec]:
    """Return the metrics of a contest, with a sample for each contender."""

    def by_contender(read: Callable[[Standing], float | None]) -> Callable[[], dict[str, float]]:
        def read_all() -> dict[str, float]:
            values = {each.name: read(each) for each in contest.standings()}
            return {name: value for name, value in values.items() if value is not None}

        return read_all

    return (
        MetricSpec(
            "iln_contender_running_error",
            "gauge",
            "Mean error of each contender since it joined: |prediction - y| of regressors, 0 "
            "or 1 of classifiers.",
            by_contender(lambda each: each.running_error),
            "contender",
        ),
        MetricSpec(
            "iln_contender_windowed_error",
            "gauge",
            "Like iln_contender_running_error, over the last window of labelled events.",
            by_contender(lambda each: each.windowed_error),
            "contender",
        ),
        MetricSpec(
            "iln_contender_windowed_loss",
            "gauge",
            "Mean loss of each contender over that window: half the squared error of regressors, "
            "the log loss of classifiers.",
            by_contender(lambda each: each.windowed_loss),
            "contender",
        ),
        MetricSpec(
            "iln_contender_evidence_lower",
            "gauge",
            "Lower bound of the champion's mean bounded loss minus the challenger's; above 0 the "
            "challenger is better.",
            by_contender(lambda each: each.lower),
            "contender",
        ),
        MetricSpec(
            "iln_contender_evidence_upper",
            "gauge",
            "Upper bound of that difference; below 0 the challenger is worse.",
            by_contender(lambda each: each.upper),
            "contender",
        ),
        MetricSpec(
            "iln_contender_failures_total",
            "counter",
            "Events on which a contender could not predict or learn.",
            by_contender(lambda each: each.n_failures),
            "contender",
        ),
        MetricSpec(
            "iln_champion",
            "gauge",
            "1 for the contender that predicts, 0 for the others.",
            by_contender(lambda each: float(each.is_champion)),
            "contender",
        ),
        MetricSpec(
            "iln_promotions_total",
            "counter",
            "Promotions of a challenger, by command or by evidence.",
            lambda: contest.n_promotions,
            "reason",
        ),
    )
