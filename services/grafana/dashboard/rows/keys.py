"""A learner for each key."""

from grafana_foundation_sdk.models.units import CountsPerSecond, Short
from graph import LEARNER, Graph, Query, rate, selected

OF = f"{LEARNER} {{{{of}}}}"
QUANTILE = f"{LEARNER} {{{{quantile}}}}"

GRAPHS = (
    Graph(
        "Keys",
        "Keys that have their own model, how many of these models are in memory, keys of "
        "aggregates, and series.\n\nHealthy: levels off. A straight line: each event has a new "
        "key, about which nothing can be learned.",
        Short,
        (Query(selected("iln_kept_keys"), OF),),
    ),
    Graph(
        "Evicted and forgotten keys",
        "Keys per second that left memory: models and aggregates go into files, series are "
        "forgotten; and keys that are forgotten for their age.\n\nHealthy: few compared with "
        "events. Above a tenth of the events: raise keys_in_memory (1 kB a key).",
        CountsPerSecond,
        (
            Query(rate("iln_key_evictions_total"), OF),
            Query(rate("iln_aggregate_keys_forgotten_total"), f"{LEARNER} aggregates too old"),
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
        "Errors of series",
        "Quantiles over series of the mean absolute error of a series' last 100 forecasts, divided "
        "by the mean size of its values.\n\nHealthy: falling, then steady. Only 1 rises: one "
        "series has changed, or is new.",
        Short,
        (Query(selected("iln_series_error_ratio"), QUANTILE),),
    ),
)
