"""A learner for each key."""

from grafana_foundation_sdk.models.units import CountsPerSecond, Short
from graph import LEARNER, Graph, Query, rate, selected

QUANTILE = f"{LEARNER} {{{{quantile}}}}"

GRAPHS = (
    Graph(
        "Keys",
        "Keys that have their own model, how many of these models are in memory, and keys of "
        "aggregates. Empty without by_key and aggregates.\n\nHealthy: levels off. A straight line: "
        "each event has a new key, about which nothing can be learned.",
        Short,
        (
            Query(selected("iln_keys"), f"{LEARNER} all"),
            Query(selected("iln_keys_in_memory"), f"{LEARNER} in memory"),
            Query(selected("iln_aggregate_keys"), f"{LEARNER} aggregates"),
        ),
    ),
    Graph(
        "Keys that move",
        "Models per second that move from memory to the file of keys, or back, and keys whose "
        "aggregates are forgotten.\n\nHealthy: few compared with events. Above a tenth of the "
        "events: raise keys_in_memory (1 kB a key).",
        CountsPerSecond,
        (
            Query(rate("iln_keys_evicted_total"), f"{LEARNER} out"),
            Query(rate("iln_keys_loaded_total"), f"{LEARNER} in"),
            Query(rate("iln_aggregate_keys_evicted_total"), f"{LEARNER} aggregates forgotten"),
        ),
    ),
    Graph(
        "Events without a key",
        "Learned events per second without a key, which only the global model learned.\n\nHealthy: "
        "0. Above: by_key names a field that these records lack, or that is not an input.",
        CountsPerSecond,
        (Query(rate("iln_events_without_key_total")),),
    ),
    Graph(
        "Errors of keys",
        "Quantiles over keys of a key's mean absolute error, of about its last 50 events.\n\n"
        "Healthy: falling, then steady. Only 0.99 rises: some keys have changed.",
        Short,
        (Query(selected("iln_key_error"), QUANTILE),),
    ),
    Graph(
        "Series",
        "Series of which earlier records are kept, and those that were forgotten. Empty without "
        "series.\n\nHealthy: levels off, none forgotten. A straight line: the fields in series "
        "name something else in each record.",
        Short,
        (
            Query(selected("iln_series"), f"{LEARNER} kept"),
            Query(selected("iln_series_evicted_total"), f"{LEARNER} forgotten"),
        ),
    ),
    Graph(
        "Errors of series",
        "Quantiles over series of the mean absolute error of a series' last 100 forecasts, divided "
        "by the mean size of its values.\n\nHealthy: falling, then steady. Only 1 rises: one "
        "series has changed, or is new.",
        Short,
        (Query(selected("iln_series_error"), QUANTILE),),
    ),
    Graph(
        "Events of keys",
        "Quantiles over keys of the number of events that a key has learned.\n\nHealthy: rising. "
        "Half of the keys below 10: most predictions are the global model's.",
        Short,
        (Query(selected("iln_key_events"), QUANTILE),),
    ),
)
