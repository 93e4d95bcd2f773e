"""The running loss, and the health of Algorithm 1."""

from grafana_foundation_sdk.models.units import PercentUnit, Short
from graph import LEARNER, Graph, Query, errors, selected

GRAPHS = (
    Graph(
        "Loss",
        "Mean loss: of a regressor (E_t - y_t)^2 / 2, of a classifier the log loss; each event is "
        "predicted before its label is seen. *Running*: over all events of the model. *Windowed*: "
        "over the latest events, as many as the setting window.\n\nHealthy: both fall, then level "
        "off. Windowed well above running: the data have changed, or the model diverges.",
        Short,
        (
            Query(selected("iln_running_loss"), f"{LEARNER} running"),
            Query(errors("loss", "window", "model"), f"{LEARNER} windowed"),
        ),
    ),
    Graph(
        "Shrink frequency",
        "Share of the latest events on which |E_t| reached 16 B, so that alpha was divided by 4 "
        "and the event was not learned. Empty for a learner without Algorithm 1.\n\nHealthy: 0, or "
        "nearly so. Above 1 %: its step is too large for its norm_bound B. In the default learner "
        "this expert then loses its weight; with shrinking-gradient raise max_draws or lower step.",
        PercentUnit,
        (Query(selected("iln_shrink_frequency")),),
    ),
    Graph(
        "||alpha||_1",
        "The sum of |alpha_i|. An estimate's noise grows with it. Empty for a learner without "
        "Algorithm 1.\n\nHealthy: rises at first, then slowly, or falls. A sawtooth is shrinking; "
        "exponential growth is divergence.",
        Short,
        (Query(selected("iln_alpha_l1")),),
    ),
)
