"""Errors of a regressor."""

from grafana_foundation_sdk.models.units import PercentUnit, Short
from graph import LEARNER, Graph, Query, errors, selected

OF = f"{LEARNER} {{{{of}}}}"
LEVEL = f"{LEARNER} {{{{level}}}} {{{{of}}}}"

GRAPHS = (
    Graph(
        "Mean absolute error",
        "Mean of |prediction - y| over the last window, in units of the label: of the model, of "
        "two baselines that look at no input, and of contenders.\n\nHealthy: the model is below "
        "both baselines. Above one of them: see the runbook of IlnNoBetterThanTrivial.",
        Short,
        (Query(errors("mae", "window"), OF),),
    ),
    Graph(
        "Running error",
        "The same since the model was created, or the contender joined.\n\nHealthy: the model is "
        "below both baselines, except at the beginning.",
        Short,
        (Query(errors("mae", "all"), OF),),
    ),
    Graph(
        "Coverage of intervals",
        "Share of labels that the interval of each level contained, over the last window, and the "
        "level. Empty without prediction_intervals.\n\nHealthy: the level, within 5 points. See "
        "the runbook of IlnCoverageOff.",
        PercentUnit,
        (Query(selected("iln_interval_coverage_ratio"), LEVEL),),
    ),
    Graph(
        "Losses of quantiles",
        "Mean pinball loss of each level over the last window, of the model and of that quantile "
        "of the latest labels. Empty without prediction_quantiles.\n\nHealthy: the model is lower.",
        Short,
        (Query(selected("iln_pinball_loss"), LEVEL),),
    ),
    Graph(
        "Coverage of quantiles",
        "Share of labels up to each quantile, over the last window, and the level. Empty without "
        "prediction_quantiles.\n\nHealthy: the level, within 5 points.",
        PercentUnit,
        (Query(selected("iln_quantile_coverage_ratio"), LEVEL),),
    ),
    Graph(
        "Drift",
        "Mean |error| of about the last 50 events over that of about the last 1000. Only of the "
        "default learner.\n\nHealthy: about 1. A peak: the stream has changed; it falls again as "
        "the learner adapts.",
        Short,
        (Query(selected("iln_recent_error_ratio")),),
        1.5,
    ),
)
