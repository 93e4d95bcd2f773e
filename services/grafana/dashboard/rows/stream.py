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
        "Ready",
        "1 while events can be learned and predicted, 0 while the learner compiles, learns history "
        "files, warms up challengers, or waits for a broker.\n\nHealthy: 1. At 0: /ready says why.",
        Short,
        (Query(selected("iln_ready")),),
    ),
    Graph(
        "Lag",
        "Offsets from the last learned record to the end of the source.\n\n"
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
        "Repeated events",
        "Records skipped because they repeat a recent event or label. 0 without the setting "
        "recent_ids.\n\nHealthy: flat. A step: a sender retried.",
        Short,
        (Query(selected("iln_repeated_events_total")),),
    ),
    Graph(
        "Skipped records",
        "Records that are no events: where is not true of them, or the decoder leaves them out. "
        "0 without these.\n\nHealthy: the share that you expect. A step in it: the sender changed.",
        CountsPerSecond,
        (Query(rate("iln_skipped_records_total")),),
    ),
    Graph(
        "Commands",
        "Commands of the log that were carried out, such as promotions. One that can't be carried "
        "out is a dead letter.\n\nHealthy: a step for each promotion by `iln-stream promote` or "
        "`POST /promote`.",
        Short,
        (Query(selected("iln_commands_total")),),
    ),
    Graph(
        "Source connected",
        "1 while the source is connected, 0 while the broker is unreachable and the learner "
        "waits.\n\nHealthy: 1.",
        Short,
        (Query(selected("iln_source_connected")),),
    ),
    Graph(
        "New partitions",
        "Partitions that the topic got since the run began, which it does not read.\n\nHealthy: 0. "
        "Above: start the run again, and it reads them from their beginning.",
        Short,
        (Query(selected("iln_new_partitions")),),
    ),
    Graph(
        "Time without progress",
        "Time since the learner last took a record or was idle.\n\nHealthy: below a "
        "second. Rising steadily: it hangs, though it still answers scrapes.",
        Seconds,
        (Query(f"time() - {selected('iln_last_progress_timestamp_seconds')}"),),
    ),
)
