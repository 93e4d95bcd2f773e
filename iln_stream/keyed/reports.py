"""What a model by key reports: quantiles over keys, never a series for each."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from iln_stream.keyed.loops import key_model
from iln_stream.reporting import MetricSpec

_SAMPLED = 10_000
"""Keys whose states quantiles are computed from: more would take the loop's time."""

_QUANTILES = (0.1, 0.5, 0.9, 0.99)


def keyed_metrics(learner: Any) -> Sequence[MetricSpec]:
    """Return the metrics of a `KeyedRegressor`."""

    def errors() -> Mapping[Any, float]:
        rows, of = learner.sample_of_keys(_SAMPLED), key_model()
        return _quantiles(rows[:, of.ERRORS] / np.maximum(rows[:, of.WEIGHTS], 1e-12))

    def events() -> Mapping[Any, float]:
        return _quantiles(learner.sample_of_keys(_SAMPLED)[:, key_model().EVENTS])

    return (
        MetricSpec("iln_keys", "gauge", "Keys that have their own model.",
                   lambda: learner.n_keys),
        MetricSpec("iln_keys_in_memory", "gauge",
                   "Keys whose model is in memory; those of the others are in the file of keys.",
                   lambda: learner.keys.n_live),
        MetricSpec("iln_keys_evicted_total", "counter",
                   "Keys whose model left memory to make room for others.",
                   lambda: learner.keys.n_evicted),
        MetricSpec("iln_keys_loaded_total", "counter",
                   "Keys whose model was read from the file of keys.",
                   lambda: learner.keys.n_loaded),
        MetricSpec("iln_key_missing_total", "counter",
                   "Learned events without a key, which only the global model learned.",
                   lambda: learner.n_missing),
        MetricSpec("iln_key_error", "gauge",
                   "Quantiles over keys of a key's mean absolute error, of about its last 50 "
                   "events.", errors, "quantile"),
        MetricSpec("iln_key_events", "gauge",
                   "Quantiles over keys of the number of events that a key has learned.",
                   events, "quantile"),
    )  # fmt: skip


def _quantiles(values: Any) -> dict[str, float]:
    if not len(values):
        return {}
    found = np.quantile(values, _QUANTILES).tolist()
    return dict(zip(map(str, _QUANTILES), found, strict=True))
