"""Health of Algorithm 1."""

from grafana_foundation_sdk.models.units import CountsPerSecond, PercentUnit, Short
from graph import Graph, Query, rate, selected

GRAPHS = (
    Graph(
        "Shrink frequency",
        "Share of the latest events on which |E_t| reached 16 B, so that alpha was divided by 4 "
        "and the event was not learned.\n\nHealthy: 0, or nearly so. Above 1 %: the run diverges "
        "(lower step, raise draws), or norm_bound, which is B, is too small for this target.",
        PercentUnit,
        (Query(selected("iln_shrink_frequency")),),
    ),
    Graph(
        "Shrinks",
        "Shrinks per second.\n\nHealthy: 0. A single spike: the algorithm has corrected itself. A "
        "plateau: the run never settles.",
        CountsPerSecond,
        (Query(rate("iln_shrinks_total")),),
    ),
    Graph(
        "||alpha||_1",
        "The sum of |alpha_i|. An estimate's noise grows with it, and the draws needed to keep the "
        "noise down grow with its square.\n\nHealthy: rises at first, then slowly, or falls. A "
        "sawtooth is shrinking; exponential growth is divergence.",
        Short,
        (Query(selected("iln_alpha_l1")),),
    ),
    Graph(
        "Support points",
        "Events that the model stores as support of its function.\n\nHealthy: rises to the budget "
        "and stays there. Without a budget, it rises without bound, and so does memory.",
        Short,
        (Query(selected("iln_support_points")),),
    ),
    Graph(
        "Variance of the estimate",
        "Variance of the last E_t, estimated from its draws. More draws would reduce the loss by "
        "up to half of it.\n\nHealthy: near the learner's option variance or below, and well below "
        "the windowed loss.",
        Short,
        (Query(selected("iln_estimate_variance")),),
    ),
    Graph(
        "Draws",
        "Draws m of the last E_t; an event's cost grows with them.\n\nHealthy: between min_draws "
        "and max_draws. Flat at max_draws: the ceiling binds, see the next panel.",
        Short,
        (Query(selected("iln_draws")),),
    ),
    Graph(
        "Events at the draws ceiling",
        "Share of labelled events on which max_draws kept the estimate noisier than the option "
        "variance allows.\n\nHealthy: 0. With the defaults of shrinking-gradient it rises to 100 % "
        "after some hundred events: raise max_draws, or lower norm_bound or step. Empty without "
        "labelled events.",
        PercentUnit,
        (Query(f"{rate('iln_draws_capped_total')} / {rate('iln_labelled_events_total')}"),),
    ),
)
