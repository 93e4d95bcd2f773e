"""Errors of a classifier."""

from grafana_foundation_sdk.models.units import PercentUnit, Short
from graph import LEARNER, Graph, Query, errors, selected

OF = f"{LEARNER} {{{{of}}}}"
MEASURE = f"{LEARNER} {{{{measure}}}}"

GRAPHS = (
    Graph(
        "Log loss",
        "Log loss over the last window: of the model, of predicting each class with its frequency "
        "so far, and of contenders.\n\nHealthy: below the baseline. Above: see the runbook of "
        "IlnNoBetterThanTrivial.",
        Short,
        (
            Query(
                f"{errors('loss', 'window')} and on (instance, model, partition) "
                f"{errors('misclassification', 'window')}",
                OF,
            ),
        ),
    ),
    Graph(
        "Share of wrong classes",
        "Share of events whose most probable class was not theirs, over the last window: of the "
        "model, of always predicting the most frequent class so far, and of contenders."
        "\n\nHealthy: below the baseline. Where one class is rare both are the same, and "
        "probabilities may still be good: look at the log loss and the ranking.",
        PercentUnit,
        (Query(errors("misclassification", "window"), OF),),
    ),
    Graph(
        "Ranking",
        "How well probabilities rank events, over the last window: area under the ROC curve, and "
        "average precision of the rarer class.\n\nHealthy: ROC AUC above 0.5, average precision "
        "above the class's share.",
        PercentUnit,
        (Query(selected("iln_probability_score", 'measure=~"roc_auc|pr_auc"'), MEASURE),),
    ),
    Graph(
        "Calibration",
        "Brier score and calibration error over the last window.\n\nHealthy: a Brier score below "
        "that of the classes' shares, and a calibration error of a few percent. See the runbook of "
        "IlnMiscalibrated.",
        Short,
        (Query(selected("iln_probability_score", 'measure=~"brier|calibration_error"'), MEASURE),),
        0.1,
    ),
)
