"""The classifier: experts' probabilities, mixed by a rule, corrected, and mixed again."""

import numpy as np

from iln_stream.frozen.infinite_layer.columns import standardised
from iln_stream.frozen.infinite_layer.networks import Encoded, outputs
from iln_stream.frozen.infinite_layer.ridges import features
from iln_stream.frozen.infinite_layer.types import Matrix, Parts

LEAST = 1e-4
"""Share of a prediction that is spread evenly."""

LOWEST, HIGHEST = -0.5, 1.5
"""Scores are clipped here."""

LARGEST_RATIO = 8.0
"""Log ratios of probabilities are clipped here."""


def predict(parts: Parts, X: Matrix) -> Matrix:
    """Return the probabilities (n, C) for raw inputs X (n, d), nan where absent.

    The experts are, in this order: for each sharpness softmax(sharpness scores) of each ridge; the
    frequencies of the classes; Gaussian naive Bayes; and the networks.

    Parts: stats (7, d); ridges, with units and theta (C, D); sharpness (S,); frequencies and
    log_frequencies (C,); naive_bayes; networks, and their encoding; rule, with the weights (K,) of
    the experts and which of them are awake; correction, with the experts that take part
    and their weights; and mixture, the weights (2,) before and after the correction.
    """
    row, z = standardised(parts["stats"], X)
    n_classes = len(parts["frequencies"])
    scores = [features(ridge["units"], z) @ ridge["theta"].T for ridge in parts["ridges"]]
    clipped = [np.clip(each, LOWEST, HIGHEST) for each in scores]
    frequencies = np.broadcast_to(parts["frequencies"], (len(X), n_classes))
    experts = [
        *(_softmax(sharpness * each) for sharpness in parts["sharpness"] for each in clipped),
        frequencies,
        _softmax(_naive_bayes(parts["naive_bayes"], z) + parts["log_frequencies"]),
        *_networks(parts, row),
    ]
    p = (1.0 - LEAST) * np.stack(experts, axis=1) + LEAST / n_classes
    rule, correction = parts["rule"], parts["correction"]
    weights = np.where(rule["awake"], rule["weights"], 0.0)
    if not weights.any():
        weights = np.where(rule["awake"], 1.0, 0.0)
    base = np.einsum("k,nkc->nc", weights / weights.sum(), p)
    p[:, ~rule["awake"]] = base[:, None]  # these take part in the correction all the same
    logs = np.log(base)
    ratios = np.clip(np.log(p[:, correction["members"]]) - logs[:, None], -LARGEST_RATIO,
                     LARGEST_RATIO)  # fmt: skip
    corrected = _softmax(logs + np.einsum("k,nkc->nc", correction["weights"], ratios))
    corrected = (1.0 - LEAST) * corrected + LEAST / n_classes
    before, after = parts["mixture"]
    mixed = before * base + after * corrected
    value: Matrix = mixed / mixed.sum(axis=1, keepdims=True)
    return value


def _softmax(scores: Matrix) -> Matrix:
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    value: Matrix = exponentials / exponentials.sum(axis=1, keepdims=True)
    return value


def _naive_bayes(model: Parts, z: Matrix) -> Matrix:
    """Log densities (n, C) at deviations z (n, d), by means and variances (C, d) of each class."""
    mean, variance = model["mean"], model["variance"]
    errors = (z[:, None] - mean) ** 2 / variance
    value: Matrix = -0.5 * (np.log(variance) + errors).sum(axis=2)
    return value


def _networks(parts: Parts, row: Matrix) -> list[Matrix]:
    """The networks' probabilities."""
    inputs, offsets = Encoded(parts["encoded"], row), parts["log_frequencies"]
    found = []
    for network in parts["networks"]:
        logits = outputs(network, inputs)
        if len(offsets) <= 2:  # one logit, of the second class
            logits = np.concatenate([np.zeros_like(logits), logits], axis=1)[:, : len(offsets)]
        found.append(_softmax(logits + offsets))
    return found
