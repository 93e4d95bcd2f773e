import numpy as np
import pytest
from kernels import plain

from iln_stream.learners.infinite_layer.experts.rls_bank import RLSSpec, WeightDistribution
from iln_stream.learners.infinite_layer.single_ridge import SingleRidgeEngine
from iln_stream.learners.restoring import random_key

d, N_UNITS, PENALTY = 2, 16, 0.5


def ridge(*, resampled, forgetting=1.0, huber=2.0):
    prior = WeightDistribution("cos", 0.7, sparse=False)
    spec = RLSSpec("ridge", prior, forgetting=forgetting)
    return SingleRidgeEngine(
        spec, N_UNITS, PENALTY, huber, resampled=resampled, max_columns=8, key=random_key(1)
    )


def waves(n, seed=0):
    """Events with one input that matters; a few targets are wild."""
    rng = np.random.default_rng(seed)
    for i, row in enumerate(rng.normal(size=(n, d)).tolist()):
        wild = 30.0 if i % 40 == 39 else 0.0
        yield dict(zip("ab", row, strict=True)), 5.0 + np.sin(2.0 * row[0]) + wild


@pytest.mark.parametrize(("forgetting", "huber"), [(1.0, 1e9), (1.0, 2.0), (0.98, 2.0)])
def test_is_the_ridge_regression_of_its_description(forgetting, huber):
    """Each prediction is that of the normal equations of all events so far, with the penalty, the
    Huber weights and the forgetting asked for.
    """
    engine = ridge(resampled=False, forgetting=forgetting, huber=huber)
    events, reference = plain.Events(d, n_lags=0), None
    for x, y in waves(150):
        events.describe(list(x.values()))
        center, unit = events.scale
        if reference is not None:
            prediction = engine.predict(x)
        engine.learn(x, y)
        bank = engine.ridges.bank
        D = bank.theta.shape[-1]
        phi = plain.features(bank.omega[0], bank.b[0], True, np.ones(d), events.v, D)
        if reference is None:  # the first event draws the units
            reference = plain.Normal(D, forgetting, PENALTY, huber)
            p = 0.0
        else:
            p = float(np.clip(phi @ reference.theta[:, 0], -2.0, 2.0))
            assert prediction == pytest.approx(center + unit * p, rel=1e-4, abs=1e-4)
        reference.learn(phi, events.join(list(x.values()), y), p)


@pytest.mark.parametrize("resampled", [True, False])
def test_units_are_redrawn_only_if_asked_for(resampled):
    """After 64 events; without redraws, no events are remembered for them."""
    engine = ridge(resampled=resampled)
    for x, y in waves(100):
        engine.learn(x, y)
    assert engine.ridges.bank.drawn_at.tolist() == [64 if resampled else 0]
    assert engine.memory.filled == (100 if resampled else 1)
    assert engine.n == 100


def test_relevance():
    """The input that matters has nearly all of it once the units are redrawn."""
    engine = ridge(resampled=True)
    for x, y in waves(300):
        engine.learn(x, y)
    relevance = engine.relevance()
    assert sum(relevance.values()) == pytest.approx(1.0)
    assert relevance["a"] > 0.8
