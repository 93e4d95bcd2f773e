"""Champion and challengers."""

from grafana_foundation_sdk.models.units import Short
from graph import LEARNER, Graph, Query, errors, selected

CONTENDER = f"{LEARNER} {{{{contender}}}}"

GRAPHS = (
    Graph(
        "Errors of the contenders",
        "Mean absolute error, or share of wrong classes, of each contender on its own predictions "
        "over the last labelled events, and of the published predictions (model).\n\nHealthy: no "
        "challenger stays below the model. The dashboard Research has their losses.",
        Short,
        (
            Query(
                f"{errors('mae|misclassification', 'window')} and on (instance, model, partition) "
                f"{selected('iln_champion')}",
                f"{LEARNER} {{{{of}}}}",
            ),
        ),
    ),
    Graph(
        "Evidence for the challengers",
        "Where the champion's mean loss minus the challenger's lies, since the last promotion. "
        "Above 0, the challenger is better; below 0, the champion.\n\nHealthy: no lower end above "
        "0. With promotion = evidence such a challenger becomes champion immediately.",
        Short,
        (Query(selected("iln_contender_evidence"), f"{CONTENDER} {{{{bound}}}}"),),
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
        (
            Query(selected("iln_promotions_total"), f"{LEARNER} {{{{reason}}}}"),
            Query(f"{selected('iln_champion')} == 1", f"{LEARNER} champion {{{{contender}}}}"),
        ),
    ),
)
