"""The classifier."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled.adam import LONG, SHORT
from iln_stream.compiled.gaussian_naive_bayes import LEAST_VARIANCE, PRIOR
from iln_stream.frozen.extraction.common import column_statistics, rule
from iln_stream.frozen.extraction.parts import encoded, ridges, weights
from iln_stream.learners.infinite_layer.profiles.classes import (
    FREQUENCIES,
    NAIVE_BAYES,
    RANDOM,
    SCORES,
    SHARPNESS,
    ClassificationEngine,
)


def parts_of(engine: ClassificationEngine) -> dict[str, Any]:
    """Return the parts that `iln_stream.frozen.infinite_layer.classes` predicts with."""
    counts, bayes = engine.counts, engine.naive_bayes
    seen = bayes.counts[:, None] + PRIOR
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
        "rule": rule(engine.rule.weights, _awake(engine)),
        "correction": {
            "members": engine.correction.members.copy(),
            "weights": engine.correction.weights.copy(),
        },
        "mixture": engine.mixture.weights,
    }


def _awake(engine: ClassificationEngine) -> NDArray[np.bool_]:
    """Which experts count now."""
    awake = np.ones(len(engine.rule.weights), bool)
    awake[NAIVE_BAYES + 1 :] = not engine.networks.asleep
    by_sharpness = awake[:FREQUENCIES].reshape(-1, SCORES)
    by_sharpness[:, : len(RANDOM)] = np.logical_not(engine.ridges.asleep)
    return awake
