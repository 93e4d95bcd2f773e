"""Whether labels arrive in time."""

from grafana_foundation_sdk.models.units import BytesIEC, CountsPerSecond, Seconds, Short
from graph import LEARNER, Graph, Query, quantile, rate, selected

GRAPHS = (
    Graph(
        "Events waiting for a label",
        "Predicted events whose label will come in a later record. Empty without the setting "
        "pending_events.\n\nHealthy: the rate of events times the delay of labels. At "
        "pending_events: the oldest expire, see the next panel.",
        Short,
        (Query(selected("iln_pending_events")),),
    ),
    Graph(
        "Memory of waiting events",
        "Approximate bytes of the events waiting for a label.\n\nHealthy: level.",
        BytesIEC,
        (Query(selected("iln_pending_bytes")),),
    ),
    Graph(
        "Delay of labels",
        "Time from an event to its label, by the times of both, for labels in separate "
        "records: median and 95th percentile.\n\nHealthy: as long as labels usually take. Rising: "
        "the sender of labels falls behind; at pending_seconds events expire without them.",
        Seconds,
        (quantile("iln_label_delay_seconds", 0.5), quantile("iln_label_delay_seconds", 0.95)),
    ),
    Graph(
        "Expired events",
        "Events per second whose label did not come in time, by reason: *age*, they waited "
        "pending_seconds; *count*, more waited than pending_events "
        "allows; *replaced*, an event with the same id came.\n\nHealthy: 0, or *age* if some "
        "events never get a label. *count* above 0: raise the bound, or find out why "
        "labels are late.",
        CountsPerSecond,
        (Query(rate("iln_pending_expired_total"), f"{LEARNER} {{{{reason}}}}"),),
    ),
    Graph(
        "Refused labels",
        "Labels per second that became dead letters: *no_event*, none with their id waited; "
        "*corrected*, another label of the same event was learned before. And ids of forgotten "
        "events that are not remembered any more.\n\nHealthy: 0. Above: the sender of labels uses "
        "other ids, or events expire before their labels come.",
        CountsPerSecond,
        (
            Query(rate("iln_labels_refused_total"), f"{LEARNER} {{{{reason}}}}"),
            Query(rate("iln_forgotten_ids_evicted_total"), f"{LEARNER} ids of forgotten events"),
        ),
    ),
    Graph(
        "Lag of the labels",
        "Offsets between the learner and the end of the log of labels at the last poll. Empty "
        "without the setting labels.\n\nHealthy: near 0, with brief peaks. Rising: more is written "
        "than learned; events wait for older labels, so the lag of the events rises, too.",
        Short,
        (Query(selected("iln_labels_lag_records")),),
    ),
)
