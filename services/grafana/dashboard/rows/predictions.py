"""Quality of the predictions."""

from grafana_foundation_sdk.models.units import PercentUnit, Short
from graph import LEARNER, Graph, Query, selected

REGRESSION = (
    Graph(
        "Loss",
        "Mean of (E_t - y_t)^2 / 2; each event is predicted before its label is seen. *Running*: "
        "over all events of the model. *Windowed*: over the latest events, as many as the setting "
        "window.\n\nHealthy: both fall, then level off. Windowed well above running: the data have "
        "changed, or the model diverges; see the shrink frequency.",
        Short,
        (
            Query(selected("iln_running_loss"), f"{LEARNER} running"),
            Query(selected("iln_windowed_loss"), f"{LEARNER} windowed"),
        ),
    ),
    Graph(
        "Mean absolute error",
        "Mean of |prediction - y|, in units of the label.\n\nHealthy: below the baselines' (next "
        "row). Falling while the loss rises: most predictions are closer, a "
        "few are far off.",
        Short,
        (
            Query(selected("iln_running_mae"), f"{LEARNER} running"),
            Query(selected("iln_windowed_mae"), f"{LEARNER} windowed"),
        ),
    ),
)

CLASSES = (
    Graph(
        "Accuracy",
        "Share of events whose class was predicted as the most probable one.\n\nHealthy: above the "
        "baseline's (next row). Empty for a regressor.",
        PercentUnit,
        (
            Query(selected("iln_running_accuracy"), f"{LEARNER} running"),
            Query(selected("iln_windowed_accuracy"), f"{LEARNER} windowed"),
        ),
    ),
    Graph(
        "Ranking",
        "How well probabilities rank events, over the last window: area under the ROC curve, and "
        "average precision of the rarer class. Empty for a regressor.\n\nHealthy: ROC AUC above "
        "0.5, average precision above the class's share.",
        PercentUnit,
        (
            Query(selected("iln_windowed_roc_auc"), f"{LEARNER} ROC AUC"),
            Query(selected("iln_windowed_pr_auc"), f"{LEARNER} average precision"),
        ),
    ),
    Graph(
        "Truth of probabilities",
        "Brier score and calibration error over the last window. Empty for a regressor.\n\n"
        "Healthy: a Brier score below that of the classes' shares, and a calibration error of a "
        "few percent.",
        Short,
        (
            Query(selected("iln_windowed_brier"), f"{LEARNER} Brier"),
            Query(selected("iln_windowed_calibration_error"), f"{LEARNER} calibration"),
        ),
    ),
)

GRAPHS = REGRESSION + CLASSES
