"""Inputs that are missing, ignored or suspicious, and parts that were reinitialised."""

from grafana_foundation_sdk.models.units import CountsPerSecond
from graph import LEARNER, Graph, Query, rate

GRAPHS = (
    Graph(
        "Suspicious inputs",
        "Inputs per second that may be read otherwise than meant: texts taken as numbers or "
        "booleans, and numbers as text in events, each of which becomes a category.\n\nHealthy: 0, "
        "or codes such as postcodes. Above: the log has a warning for each name.",
        CountsPerSecond,
        (Query(rate("iln_inputs_suspicious_total"), f"{LEARNER} {{{{kind}}}}"),),
    ),
    Graph(
        "Missing values",
        "Inputs per second that were null or a text in null_values. Empty for records of the form "
        "of events.\n\nHealthy: as steady as the source. A step: a sender omits a field.",
        CountsPerSecond,
        (Query(rate("iln_values_missing_total")),),
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
        "Reinitialised parts",
        "Parts of the learner that were not finite or predicted out of all bounds, and were "
        "reinitialised, per second.\n\nHealthy: 0. Above: the other experts predict until the part "
        "has learned again; report it, with the inputs of that time.",
        CountsPerSecond,
        (Query(rate("iln_parts_reset_total"), f"{LEARNER} {{{{part}}}}"),),
    ),
)
