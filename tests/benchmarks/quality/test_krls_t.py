"""The peer KRLS-T, as its authors publish it, against ours, which keeps other matrices."""

import numpy as np
import pytest

from benchmarks.quality.learners.krls_t import KRLST
from iln_stream.compiled import krls_t as kernels
from iln_stream.compiled.krls_t import SCALE


def test_two_implementations_agree():
    """On a drifting function of eight inputs, with far more events than points."""
    rng = np.random.default_rng(1)
    d, room, n = 8, 25, 300
    Z = rng.normal(size=(n, d))
    t = np.tanh(Z[:, 0] + np.linspace(-2.0, 2.0, n) * Z[:, 1]) + 0.1 * rng.normal(size=n)
    peer = KRLST(budget=room - 1, forgetting=0.99)
    basis = np.zeros((d, room)), np.zeros((room, room)), np.zeros((room, room)), np.zeros(room)
    record, k = np.zeros(5), np.zeros(room)
    record[SCALE] = d
    for z, target in zip(Z, t.tolist(), strict=True):
        x = dict(enumerate(z.tolist()))
        assert kernels.predict(basis, record, z, k) == pytest.approx(peer.predict_one(x), abs=2e-3)
        kernels.learn(basis, record, z, k, target, 0.99, 0.05)
        peer.learn_one(x, target)


def test_forgets():
    """The error on an opposite function falls below that of the mean; without forgetting not."""
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(1_200, 2))
    y = np.where(np.arange(1_200) < 900, 1.0, -1.0) * Z[:, 0] * Z[:, 1]
    found = []
    for forgetting in (0.99, 1.0):
        peer, errors = KRLST(40, forgetting), []
        for z, target in zip(Z.tolist(), y.tolist(), strict=True):
            x = dict(zip("ab", z, strict=True))
            errors.append(abs(peer.predict_one(x) - target))
            peer.learn_one(x, target)
        found.append(np.mean(errors[-100:]) / np.abs(y[-100:]).mean())
    assert found[0] < 0.8 < found[1]
