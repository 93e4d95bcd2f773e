"""What the learner has learned."""

from grafana_foundation_sdk.models.units import CountsPerSecond, PercentUnit, Short
from graph import LEARNER, Graph, Query, rate, selected

GRAPHS = (
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
        "Share of each input in how much the learned function varies; the twenty most relevant "
        "inputs.\n\nHealthy: settles after some hundreds of events. One falls to 0: check the "
        "sender.",
        PercentUnit,
        (Query(selected("iln_input_relevance_ratio"), f"{LEARNER} {{{{input}}}}"),),
    ),
    Graph(
        "Drift",
        "Mean |error| of about the last 50 events over that of about the last 1000.\n\nHealthy: "
        "about 1. A peak: the stream has changed; it falls again as the learner adapts.",
        Short,
        (Query(selected("iln_recent_error_ratio")),),
    ),
    Graph(
        "Hidden units redrawn",
        "Number of learned events when an expert last redrew its hidden units to fit the inputs' "
        "relevance.\n\nHealthy: steps at 64, 128, .. 2048 events. Later steps: the relevant inputs "
        "have changed.",
        Short,
        (Query(selected("iln_units_redrawn_at"), f"{LEARNER} {{{{expert}}}}"),),
    ),
    Graph(
        "Reinitialised parts",
        "Parts of the learner that were not finite or predicted out of all bounds, and were "
        "reinitialised, per second.\n\nHealthy: 0. Above: the other experts predict until the part "
        "has learned again; report it, with the inputs of that time.",
        CountsPerSecond,
        (Query(rate("iln_parts_reset_total"), f"{LEARNER} {{{{part}}}}"),),
    ),
    Graph(
        "Ignored inputs",
        "Inputs per second ignored because all max_columns columns were taken.\n\n"
        "Healthy: 0. Above: ids or free text among the inputs use up the columns; remove them, or "
        "raise max_columns.",
        CountsPerSecond,
        (Query(rate("iln_inputs_overflowed_total")),),
    ),
    Graph(
        "Hashed categories",
        "Inputs per second hashed because their field has more categories than columns; each "
        "still has its own effect on predictions.\n\nHealthy: steady, 0 without ids. A step: a "
        "field got many new values.",
        CountsPerSecond,
        (Query(rate("iln_inputs_hashed_total")),),
    ),
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
    Graph(
        "Missing values",
        "Inputs per second that were null or a text in null_values. Empty for records of the form "
        "of events.\n\nHealthy: as steady as the source. A step: a sender omits a field.",
        CountsPerSecond,
        (Query(rate("iln_values_missing_total")),),
    ),
    Graph(
        "Texts taken as numbers",
        "Texts of inputs per second that were read as numbers or booleans. Empty for records of "
        "the form of events.\n\nHealthy: 0. Above: name the types of these fields (types); the log "
        "has a warning for each.",
        CountsPerSecond,
        (Query(rate("iln_values_coerced_total"), f"{LEARNER} {{{{type}}}}"),),
    ),
    Graph(
        "Numbers taken as categories",
        "Inputs per second that are numbers as text. In events a text is a category, one for each "
        "number. Empty with field settings.\n\nHealthy: 0, or codes such as postcodes. "
        "Above: the sender should omit the quotes; the log has a warning for each name.",
        CountsPerSecond,
        (Query(rate("iln_numbers_as_categories_total")),),
    ),
    Graph(
        "Retries at the schema registry",
        "Requests per second that the schema registry did not answer and that were sent again. "
        "Empty without a registry.\n\nHealthy: 0. Above: no record is learned meanwhile, and the "
        "run ends after 30 seconds; start the registry.",
        CountsPerSecond,
        (Query(rate("iln_registry_retries_total")),),
    ),
    Graph(
        "History",
        "Events per second of history files, which a run with warm_start learns before its log. "
        "Empty in a run that resumes.\n\nHealthy: steady, then 0: the run reads the log.",
        CountsPerSecond,
        (Query(rate("iln_history_events_total")),),
    ),
)
