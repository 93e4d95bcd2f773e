"""Quality against baselines."""

from grafana_foundation_sdk.models.units import PercentUnit, Short
from graph import LEARNER, Graph, Query, selected

BASELINE = f"{LEARNER} {{{{baseline}}}}"

REGRESSION = (
    Graph(
        "Windowed error and baselines",
        "Mean of |prediction - y| over the last window, of the learner and of two baselines that "
        "look at no input: the mean of the labels so far, and the last label. Empty for a "
        "classifier.\n\nHealthy: below both. Above one of them: see the runbook of "
        "IlnNoBetterThanTrivial.",
        Short,
        (
            Query(selected("iln_windowed_mae"), f"{LEARNER} learner"),
            Query(selected("iln_baseline_mae"), BASELINE),
        ),
    ),
    Graph(
        "Running error and baselines",
        "The same since the model was created. Empty for a classifier.\n\nHealthy: below both, "
        "except at the beginning.",
        Short,
        (
            Query(selected("iln_running_mae"), f"{LEARNER} learner"),
            Query(selected("iln_baseline_running_mae"), BASELINE),
        ),
    ),
    Graph(
        "Coverage of intervals",
        "Share of labels that the interval of each level contained, over the last window. Empty "
        "for a classifier and without intervals.\n\nHealthy: the level, within 5 points. See the "
        "runbook of IlnCoverageOff.",
        PercentUnit,
        (
            Query(selected("iln_interval_coverage"), f"{LEARNER} {{{{level}}}}"),
            Query(selected("iln_interval_coverage_error"), f"{LEARNER} {{{{level}}}} off by"),
        ),
    ),
)

CLASSES = (
    Graph(
        "Windowed log loss and baseline",
        "Log loss over the last window, of the learner and of predicting each class with its "
        "frequency so far. Empty for a regressor.\n\nHealthy: below the baseline. Above: see the "
        "runbook of IlnNoBetterThanTrivial.",
        Short,
        (
            Query(
                f"{selected('iln_windowed_loss')} and ignoring (baseline) "
                f"{selected('iln_baseline_loss')}",
                f"{LEARNER} learner",
            ),
            Query(selected("iln_baseline_loss"), BASELINE),
        ),
    ),
    Graph(
        "Running log loss and baseline",
        "The same since the model was created. Empty for a regressor.\n\nHealthy: below the "
        "baseline.",
        Short,
        (
            Query(
                f"{selected('iln_running_loss')} and ignoring (baseline) "
                f"{selected('iln_baseline_running_loss')}",
                f"{LEARNER} learner",
            ),
            Query(selected("iln_baseline_running_loss"), BASELINE),
        ),
    ),
    Graph(
        "Windowed accuracy and baseline",
        "Accuracy over the last window, of the learner and of always predicting the most frequent "
        "class so far. Empty for a regressor.\n\nHealthy: above the baseline. Where one class is "
        "rare both are the same, and probabilities may still be good: look at the log loss and at "
        "the ranking.",
        PercentUnit,
        (
            Query(selected("iln_windowed_accuracy"), f"{LEARNER} learner"),
            Query(selected("iln_baseline_accuracy"), BASELINE),
        ),
    ),
    Graph(
        "Running accuracy and baseline",
        "The same since the model was created. Empty for a regressor.\n\nHealthy: above the "
        "baseline, or, where one class is rare, the same.",
        PercentUnit,
        (
            Query(selected("iln_running_accuracy"), f"{LEARNER} learner"),
            Query(selected("iln_baseline_running_accuracy"), BASELINE),
        ),
    ),
)

GRAPHS = REGRESSION + CLASSES
