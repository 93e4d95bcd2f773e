"""Recursive least squares in blocks, against a recomputation without any factor above 1."""

import numpy as np
import pytest

from iln_stream.kernels.ridges import learn_blocks

B, N, FORGETTING, RIDGE, HUBER = 16, 3, 0.999, 0.1, 1e9
WEIGHTS = 1.0, 0.0, 20.0, 0.5
LIFETIME = int(60 / (1 - FORGETTING))
"""Steps: 1 / FORGETTING multiplied so often is 1e26, ten orders beyond 1 / eps."""


def rows(kind, n, rng):
    """The features of n events."""
    phi = rng.normal(size=(n, N * B))
    if kind == "still":
        phi[:] = phi[0]
    elif kind == "constant":
        phi[:] = 1.0
    elif kind == "collinear":
        phi[:, 1::2] = phi[:, ::2]
    elif kind == "one-hot":
        phi[:] = np.eye(N * B)[rng.integers(0, N * B, n)]
    elif kind == "bursting":
        phi *= np.where(np.arange(n) % 1_000 < 20, 10.0, 1e-3)[:, None]
    elif kind == "drifting":
        phi += np.linspace(-3.0, 3.0, n)[:, None]
    return phi


@pytest.mark.parametrize(
    "kind", ["stationary", "still", "constant", "collinear", "one-hot", "bursting", "drifting"]
)
def test_outlives_its_forgetting(kind):
    """After 60 / (1 - forgetting) weighted rows the covariance inverts the recomputed information,

    exactly symmetric, and the weights are finite: nothing that 1 / forgetting multiplies grows.
    """
    rng = np.random.default_rng(3)
    P = np.tile(np.eye(B) / RIDGE, (N, 1, 1))
    information = np.tile(np.eye(B) * RIDGE, (N, 1, 1))
    theta, record, k = np.zeros(N * B), np.zeros(2), np.zeros(N * B)
    lost = (1.0 - FORGETTING) * RIDGE * N * B
    weights = rng.normal(size=N * B) / 10
    for step, phi in enumerate(rows(kind, LIFETIME, rng)):
        learn_blocks(
            P, theta, record, phi, k, phi @ weights, theta @ phi, WEIGHTS[step % 4],
            FORGETTING, RIDGE, HUBER,
        )  # fmt: skip
        information *= FORGETTING
        for u, f in enumerate(phi.reshape(N, B)):
            information[u] += WEIGHTS[step % 4] * np.outer(f, f)
        u, i = (step + 1) % N, (step + 1) // N % B  # whose penalty is renewed
        information[u, i, i] += lost
    assert np.isfinite(theta).all()
    for block, inverse in zip(P, information, strict=True):
        # Between two of its mirrorings a block is off by a rounding or two.
        assert block == pytest.approx(block.T, rel=1e-12, abs=1e-12 * np.abs(block).max())
        assert block @ inverse == pytest.approx(np.eye(B), abs=1e-7)
