"""Champion and challengers."""

from grafana_foundation_sdk.models.units import Short
from graph import LEARNER, Graph, Query, selected

CONTENDER = f"{LEARNER} {{{{contender}}}}"

GRAPHS = (
    Graph(
        "Champion",
        "1 for the contender that predicts, 0 for the others; only with challengers.\n\nHealthy: "
        "one line at 1. It changes with a promotion.",
        Short,
        (Query(selected("iln_champion"), CONTENDER),),
    ),
    Graph(
        "Errors of the contenders",
        "Mean error of each contender on its own predictions, each made before the label: absolute "
        "errors of numbers, and the share of wrong classes. *Windowed*: over the last labelled "
        "events. *Running*: since it joined.\n\nHealthy: no challenger stays below the "
        "champion.",
        Short,
        (
            Query(selected("iln_contender_windowed_error"), f"{CONTENDER} windowed"),
            Query(selected("iln_contender_running_error"), f"{CONTENDER} running"),
        ),
    ),
    Graph(
        "Losses of the contenders",
        "Mean loss of each contender over the window: half the squared error, or the log loss of "
        "classes.\n\nHealthy: like the errors. A higher loss with the same error: some predictions "
        "are far off.",
        Short,
        (Query(selected("iln_contender_windowed_loss"), CONTENDER),),
    ),
    Graph(
        "Evidence for the challengers",
        "Where the champion's mean loss minus the challenger's lies, since the last promotion. "
        "Above 0, the challenger is better; below 0, the champion.\n\nHealthy: no lower end above "
        "0. With promotion = evidence such a challenger becomes champion immediately.",
        Short,
        (
            Query(selected("iln_contender_evidence_lower"), f"{CONTENDER} lower"),
            Query(selected("iln_contender_evidence_upper"), f"{CONTENDER} upper"),
        ),
    ),
    Graph(
        "Failures of the contenders",
        "Events on which a contender could not predict or learn.\n\nHealthy: flat. `iln-stream "
        "inspect` shows the last reason of each.",
        Short,
        (Query(selected("iln_contender_failures_total"), CONTENDER),),
    ),
    Graph(
        "Promotions",
        "Promotions of a challenger, by command or by evidence.\n\nHealthy: rare. Many by "
        "evidence: two contenders are good at different times; try the mixture.",
        Short,
        (Query(selected("iln_promotions_total"), f"{LEARNER} {{{{reason}}}}"),),
    ),
)
