"""Whether the learner keeps up."""

from grafana_foundation_sdk.models.units import CountsPerSecond, Seconds, Short
from graph import LEARNER, Graph, Query, quantile, rate, selected

GRAPHS = (
    Graph(
        "Events",
        "Events per second: *all* were predicted, the *labelled* ones also learned.\n\n"
        "Healthy: the rate at which events are sent. Lower while the lag rises: the "
        "learner is too slow. 0 with a lag: it hangs.",
        CountsPerSecond,
        (
            Query(rate("iln_events_total"), f"{LEARNER} all"),
            Query(rate("iln_labelled_events_total"), f"{LEARNER} labelled"),
        ),
    ),
    Graph(
        "Lag",
        "Records of the source that were not read yet.\n\n"
        "Healthy: near 0, with brief peaks. Rising: events arrive faster than they are learned. "
        "Empty: the source has no known end.",
        Short,
        (Query(selected("iln_consumer_lag_records")),),
    ),
    Graph(
        "Time per event",
        "Time to predict and learn one event: median, 95th and 99th percentile.\n\nHealthy: flat. "
        "Rising: more draws or support points. Its inverse is about the highest rate of events "
        "that this learner can take.",
        Seconds,
        tuple(quantile("iln_step_duration_seconds", q) for q in (0.5, 0.95, 0.99)),
    ),
    Graph(
        "Dead letters",
        "Malformed records, and events on which the learner failed. The output dead_letters has "
        "each with its reason.\n\nHealthy: flat. A step: a sender has changed its format. A steady "
        "rise: read the letters' reasons.",
        Short,
        (Query(selected("iln_dead_letters_total")),),
    ),
    Graph(
        "Learning problems",
        "1 once a run has warned that it learned nothing, that labels found no event, that times "
        "go back, or that inputs vanished.\n\nHealthy: empty or 0. At 1: read the log.",
        Short,
        (Query(selected("iln_learning_problem"), f"{LEARNER} {{{{problem}}}}"),),
    ),
    Graph(
        "Skipped records",
        "Records that repeat a recent event or label (with recent_ids), or are no events: where is "
        "not true of them, or the decoder leaves them out.\n\nHealthy: the share that you expect. "
        "A step: a sender changed, or retried.",
        CountsPerSecond,
        (Query(rate("iln_skipped_records_total"), f"{LEARNER} {{{{reason}}}}"),),
    ),
    Graph(
        "Time without progress",
        "Time since the learner last took a record or was idle.\n\nHealthy: below a "
        "second. Rising steadily: it hangs, though it still answers scrapes.",
        Seconds,
        (Query(f"time() - {selected('iln_last_progress_timestamp_seconds')}"),),
        60.0,
    ),
    Graph(
        "Ready",
        "1 while events can be learned and predicted, 0 while the learner compiles, learns history "
        "files, warms up challengers, or waits for a broker; with the release and the learner."
        "\n\nHealthy: 1. At 0: /ready says why.",
        Short,
        (
            Query(
                f"{selected('iln_ready')} * on (instance, model, partition) "
                f"group_left (version, learner) {selected('iln_build_info')}",
                f"{LEARNER} {{{{version}}}} {{{{learner}}}}",
            ),
        ),
    ),
    Graph(
        "Connected",
        "1 while the source, and the log of labels if there is one, is connected, 0 while its "
        "broker is unreachable and the learner waits.\n\nHealthy: 1.",
        Short,
        (
            Query(selected("iln_source_connected"), f"{LEARNER} events"),
            Query(selected("iln_labels_connected"), f"{LEARNER} labels"),
        ),
    ),
)

SOURCES = (
    Graph(
        "New partitions",
        "Partitions that the topic got since the run began, which it does not read.\n\nHealthy: 0. "
        "Above: start the run again, and it reads them from their beginning.",
        Short,
        (Query(selected("iln_new_partitions")),),
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
