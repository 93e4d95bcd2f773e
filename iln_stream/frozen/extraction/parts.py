"""Parts that several profiles have."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from iln_stream.compiled.activations import COS
from iln_stream.compiled.network_layout import SEGMENTS, padded, weights_of
from iln_stream.compiled.replay_ring import MISSING, N_LAGS
from iln_stream.frozen.infinite_layer.networks import FURTHEST
from iln_stream.learners.infinite_layer.experts.replay_ring import ReplayRing
from iln_stream.learners.infinite_layer.experts.replayed_network import ReplayedNetwork
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSBank


def ridges(bank: RLSBank) -> list[dict[str, Any]]:
    """Return units and weights of the ridges of a bank."""
    n_features = bank.n_units + 1 + bank.linear.shape[1]
    return [
        {
            "units": {
                "omega": bank.omega[k].copy(),
                "b": bank.b[k].copy(),
                "linear": bank.linear[k].copy(),
                "activation": "cos" if bank.activation[k] == COS else "relu",
            },
            "theta": bank.theta[k, ..., :n_features].copy(),
        }
        for k in range(len(bank.specs))
    ]


def encoded(ring: ReplayRing) -> dict[str, Any]:
    """Return how inputs are encoded for networks, with the last targets as they are now."""
    N, n = len(ring._targets), ring.n
    lags = np.full(N_LAGS, MISSING, np.float32)
    for lag in range(min(n, N_LAGS)):
        difference = ring._targets[(n - 1 - lag) % N] - ring.origins[lag]
        lags[lag] = np.clip(difference, -FURTHEST, FURTHEST)
    return {
        "encoding": ring.encoding.copy(),
        "origins": ring.origins[N_LAGS:].copy(),
        "lags": lags,
    }


def weights(network: ReplayedNetwork, rows: Iterable[int]) -> list[dict[str, Any]]:
    """Return the weights in these rows of a network's parameters: the latest ones, or averages."""
    shape, found = network.shape, []
    n_first, n_outputs, room = shape.first, shape.outputs, padded(shape)
    for row in rows:
        w = weights_of(network.parameters[row], shape)
        increments = w.columns[:, n_first + room :]
        found.append(
            {
                "W1": w.columns[:, :n_first].copy(),
                "b1": w.b1[0].copy(),
                "W2": w.W2.copy(),
                "b2": w.b2[0].copy(),
                "w3": w.w3.copy(),
                "b3": w.b3[0, :n_outputs].copy(),
                "skip": w.columns[:, n_first : n_first + n_outputs].copy(),
                "increments": increments.reshape(len(increments), SEGMENTS, shape.piecewise).copy(),
            }
        )
    return found
