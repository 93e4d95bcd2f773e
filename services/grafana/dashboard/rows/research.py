"""What the default learner has learned."""

from grafana_foundation_sdk.models.units import PercentUnit, Short
from graph import LEARNER, Graph, Query, errors, selected

EXPERTS = (
    Graph(
        "Weights of the experts",
        "Weight of each expert in the prediction; the weights sum to one.\n\nHealthy: settles on a "
        "few experts. New leaders: the stream has changed. Experts that forget (krls-t, "
        "forgetting-rls, linear-fast, persistence) gain when it drifts, running-mean when there is "
        "nothing to learn.",
        PercentUnit,
        (Query(selected("iln_expert_weight"), f"{LEARNER} {{{{expert}}}}"),),
    ),
    Graph(
        "Relevance of the inputs",
        "Share of each input in how far inputs move predictions; the twenty most relevant inputs."
        "\n\nHealthy: settles after some hundreds of events. One falls to 0: check the "
        "sender.",
        PercentUnit,
        (Query(selected("iln_input_relevance_ratio"), f"{LEARNER} {{{{input}}}}"),),
    ),
)

HASHED = (
    Graph(
        "Distinct hashed names",
        "Estimated number of distinct names that were hashed, within about 3 %.\n\nHealthy: levels "
        "off. A straight line: each event has a new value, which nothing can be learned from.",
        Short,
        (Query(selected("iln_hashed_names")),),
    ),
    Graph(
        "Occupied cells",
        "Share of the cells for hashed names that are occupied.\n\nHealthy: below 0.5. Above: many "
        "names share a cell, and their effects blur; ignore fields that identify an event.",
        PercentUnit,
        (Query(selected("iln_hashed_cells_occupied_ratio")),),
    ),
)

CONTEST = (
    Graph(
        "Losses of the contenders",
        "Mean loss of each contender over the window: half the squared error, or the log loss of "
        "classes. Empty without challengers.\n\nHealthy: like the errors. A higher loss with the "
        "same error: some predictions are far off.",
        Short,
        (
            Query(
                f"{errors('loss', 'window')} and on (instance, model, partition) "
                f"{selected('iln_champion')}",
                f"{LEARNER} {{{{of}}}}",
            ),
        ),
    ),
)
