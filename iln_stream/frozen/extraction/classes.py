"""The classifier."""

from typing import Any

from iln_stream.compiled.adam import LONG, SHORT
from iln_stream.compiled.gaussian_naive_bayes import LEAST_VARIANCE, PRIOR
from iln_stream.frozen.extraction.common import column_statistics
from iln_stream.frozen.extraction.parts import encoded, ridges, weights
from iln_stream.learners.infinite_layer.profiles.classes import (
    NAIVE_BAYES,
    SHARPNESS,
    ClassificationEngine,
)


def parts_of(engine: ClassificationEngine) -> dict[str, Any]:
    """Return the parts that `iln_stream.frozen.infinite_layer.classes` predicts with."""
    counts, bayes = engine.counts, engine.naive_bayes
    seen = bayes.counts[:, None] + PRIOR
    n_experts = len(engine.rule.weights)
    return {
        "stats": column_statistics(engine.inputs.stats),
        "ridges": [*ridges(engine.bank), *ridges(engine.linear)],
        "sharpness": SHARPNESS.copy(),
        "frequencies": (counts + 1.0) / (counts.sum() + len(counts)),
        "log_frequencies": engine._offsets.copy(),
        "naive_bayes": {
            "mean": bayes.mean * bayes.counts[:, None] / seen,
            "variance": (bayes.squares + PRIOR) / seen + LEAST_VARIANCE,
        },
        "networks": [
            each
            for network in engine.networks.networks.values()
            for each in weights(network, (SHORT, LONG))
        ],
        "encoded": encoded(engine.networks.ring),
        "rule": {
            "weights": engine.rule.weights.copy(),
            "n_awake": NAIVE_BAYES + 1 if engine.networks.asleep else n_experts,
        },
        "correction": {
            "members": engine.correction.members.copy(),
            "weights": engine.correction.weights.copy(),
        },
        "mixture": engine.mixture.weights,
    }
