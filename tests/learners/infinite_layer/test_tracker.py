import numpy as np
import pytest

from iln_stream.compiled.recursive_ridge import WAITING, learn
from iln_stream.learners.infinite_layer.experts.forgetting_rls import BLOCK, Tracker
from iln_stream.learners.infinite_layer.experts.rls_bank import (
    HUBER,
    RIDGE,
    covariance,
    nothing_learned,
)


def stream(n, D, seed, weights):
    """Rows of D features and noisy targets."""
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=(n, D))
    return phi, phi @ weights + 0.01 * rng.normal(size=n)


def test_one_block_is_exact():
    """Without forgetting, features that fit into one block are learned by exact least squares."""
    D = BLOCK
    weights = np.random.default_rng(9).normal(size=D) / 10
    tracker = Tracker(D, forgetting=1.0)
    P, pending, theta, record = (
        covariance(D), np.zeros((WAITING, D)), np.zeros(D), nothing_learned()
    )  # fmt: skip
    for phi, t in zip(*stream(300, D, 0, weights), strict=True):
        p = tracker.predict(phi)
        tracker.learn(float(t), p)
        learn(P, pending, theta, record, phi, np.zeros(D), t, p, 1.0, RIDGE, HUBER)
        assert tracker.theta == pytest.approx(theta, abs=1e-9)


def test_follows_drift():
    """After the weights turn over, 600 events are enough to predict well again."""
    D = 40
    weights = np.random.default_rng(9).normal(size=D) / 20
    tracker = Tracker(D, forgetting=0.99)
    errors = []
    for sign in (1.0, -1.0):
        for phi, t in zip(*stream(1_500, D, 0, sign * weights), strict=True):
            p = tracker.predict(phi)
            errors.append(abs(p - t))
            tracker.learn(float(t), p)
    assert np.mean(errors[2_100:]) < 0.1 * np.mean(errors[1_500:1_510])


def test_starts_from_what_it_follows():
    """Right after `follow`, it predicts the same as the other expert."""
    D = 70
    rng = np.random.default_rng(1)
    root = rng.normal(size=(D, D))
    theta = rng.normal(size=D) / 100
    tracker = Tracker(D, forgetting=0.999)
    tracker.follow(theta, root @ root.T)
    phi = rng.normal(size=D)
    assert tracker.predict(phi) == pytest.approx(theta @ phi)
    last = (root @ root.T)[64:, 64:]
    assert tracker.P[2, :6, :6] == pytest.approx(last)
    assert (tracker.P[2, 6:, 6:] == np.eye(BLOCK - 6) / RIDGE).all()


def test_constant_input_does_not_wind_up():
    """20,000 events of one constant feature leave the covariance of the others near the prior's."""
    tracker = Tracker(BLOCK + 3, forgetting=0.99)
    phi = np.eye(BLOCK + 3)[0]
    for _ in range(20_000):
        tracker.learn(1.0, tracker.predict(phi))
    n = len(tracker.P) * BLOCK
    assert np.isfinite(tracker.P).all()
    assert tracker.P.max() < 1.0 / (RIDGE * 0.99**n)


def test_outlives_its_forgetting():
    """60 / (1 - forgetting) events after it began, its covariance is symmetric and it still learns:

    rounding that 1 / forgetting multiplies would be e^60 times as large by then.
    """
    D, n = 70, 60_000
    weights = np.random.default_rng(9).normal(size=D) / 20
    tracker = Tracker(D, forgetting=0.999)
    errors = []
    for phi, t in zip(*stream(n, D, 0, weights), strict=True):
        p = tracker.predict(phi)
        errors.append(abs(p - t))
        tracker.learn(float(t), p)
    assert (abs(tracker.P - tracker.P.swapaxes(1, 2)) < 1e-9 * abs(tracker.P).max()).all()
    assert np.mean(errors[-1_000:]) < 1.1 * np.mean(errors[9_000:10_000])


def test_nan_is_not_hidden():
    """A tracker whose weights are broken predicts nan, not a plausible number."""
    tracker = Tracker(3, forgetting=0.999)
    tracker.theta[0] = np.nan
    assert np.isnan(tracker.predict(np.ones(3)))
