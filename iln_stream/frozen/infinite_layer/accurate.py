"""Profile accurate: ridges, networks and others under a rule; then neighbours under another."""

import numpy as np

from iln_stream.frozen.infinite_layer import gaussian_process, neighbours
from iln_stream.frozen.infinite_layer.columns import standardised
from iln_stream.frozen.infinite_layer.mixing import mixed
from iln_stream.frozen.infinite_layer.networks import Encoded, outputs
from iln_stream.frozen.infinite_layer.ridges import FENCE, features, fenced
from iln_stream.frozen.infinite_layer.types import Matrix, Parts

WIDTH = 3.0
"""Standard deviations in one unit of the target's scale: networks predict these."""


def predict(parts: Parts, X: Matrix) -> Matrix:
    """Return the predictions (n,) for raw inputs X (n, d), nan where absent.

    The experts are, in this order: the ridges and `forgetting`, which has other weights on the
    features of the first; the linear ones; Algorithm 1; the running mean, 0; the last target; and
    the mixture of the networks and of `krls-t`. Their mixture and three predictions by neighbours
    are mixed again.

    Parts: stats (7, d); lags (2,), the last targets in standard deviations; `ridges` and `linear`,
    with units and theta each; forgetting, a theta; first_order; networks, and their encoding;
    krls_t; memory; the rules `moving`, `mean` and `last`; and center and unit, the target's scale.
    """
    row, z = standardised(parts["stats"], X)
    lags = np.broadcast_to(parts["lags"], (len(X), len(parts["lags"])))
    v = np.concatenate([lags, z], axis=1)
    phis = [features(ridge["units"], v) for ridge in parts["ridges"]]
    ridges = [phi @ each["theta"] for phi, each in zip(phis, parts["ridges"], strict=True)]
    ridges.append(phis[0] @ parts["forgetting"])
    linear = [features(each["units"], v) @ each["theta"] for each in parts["linear"]]
    persistence = np.full(len(X), parts["lags"][0] / WIDTH)
    experts = [
        *(fenced(p) for p in (*ridges, *linear)),
        _first_order(parts["first_order"], v),
        np.zeros(len(X)),
        persistence,
        _moving(parts, row, z),
    ]
    mean = mixed(parts["mean"], np.stack(experts, axis=1))
    near = neighbours.predict(parts["memory"], row, z, mean, parts)
    p = mixed(parts["last"], np.concatenate([mean[:, None], near], axis=1))
    value: Matrix = parts["center"] + parts["unit"] * p
    return value


def _first_order(layer: Parts, v: Matrix) -> Matrix:
    """Algorithm 1 on a pool of cosines: omega (R, L), b (R,) and weights (R,)."""
    value: Matrix = np.cos(v @ layer["omega"].T + layer["b"]) @ layer["weights"]
    return np.clip(value, -1.0, 1.0)


def _moving(parts: Parts, row: Matrix, z: Matrix) -> Matrix:
    """The mixture of the networks' predictions and that of the Gaussian process."""
    inputs = Encoded(parts["encoded"], row)
    networks = [outputs(network, inputs)[:, 0] / WIDTH for network in parts["networks"]]
    p = [np.clip(each, -FENCE, FENCE) for each in networks]
    p.append(gaussian_process.predict(parts["krls_t"], z))
    return mixed(parts["moving"], np.stack(p, axis=1))
