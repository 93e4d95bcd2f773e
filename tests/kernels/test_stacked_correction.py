"""Newton steps of the log-linear correction, over streams longer than its forgetting."""

import numpy as np
import pytest

from iln_stream.kernels.mixing import (
    FORGETTING,
    LARGEST_RATIO,
    LEAST_PROBABILITY,
    PRECISION,
    correct,
    newton_step,
)


class Correction:
    """Weights and covariance of m experts, and what a prediction left."""

    def __init__(self, m, C):
        self.weights, self.covariance = np.zeros(m), np.eye(m) / PRECISION
        self.members, self.ratios, self.q = np.arange(m), np.zeros((m, C)), np.zeros(C)

    def predict(self, p, base):
        correct(self.weights, p, self.members, base, self.ratios, self.q)
        return self.q

    def learn(self, label, w=1.0):
        newton_step(self.weights, self.covariance, self.ratios, self.q, label, w)


def simplex(rng, K, C, spread=1.0):
    """K probability vectors."""
    raised = np.exp(spread * rng.normal(size=(K, C)))
    return raised / raised.sum(axis=1, keepdims=True)


def test_prediction_by_hand():
    """Powers of clipped ratios, with a least share for each class; members select the experts."""
    rng = np.random.default_rng(0)
    p, base = simplex(rng, 4, 3), simplex(rng, 1, 3)[0]
    p[2] = [1.0 - 2e-9, 1e-9, 1e-9]
    weights, members = np.array([0.7, -0.2]), np.array([0, 2])
    ratios, q = np.zeros((2, 3)), np.zeros(3)
    correct(weights, p, members, base, ratios, q)
    expected = np.clip(np.log(p[members] / base), -LARGEST_RATIO, LARGEST_RATIO)
    assert (expected == -LARGEST_RATIO).any()
    np.testing.assert_allclose(ratios, expected, rtol=1e-9)
    raised = base * np.exp(weights @ expected)
    np.testing.assert_allclose(
        q, (1 - LEAST_PROBABILITY) * raised / raised.sum() + LEAST_PROBABILITY / 3, rtol=1e-9
    )


def test_a_step_by_hand():
    """The covariance is the inverse of the prior's precision and all weighted curvature; the step
    is its product with the gradient of the weighted log loss.
    """
    rng = np.random.default_rng(1)
    one, precision = Correction(4, 3), PRECISION * np.eye(4)
    for w in (1.0, 0.0, 0.5):
        q = one.predict(simplex(rng, 4, 3), simplex(rng, 1, 3)[0]).copy()
        before, label = one.weights.copy(), int(rng.integers(3))
        if np.trace(np.linalg.inv(precision)) * PRECISION < 4:
            precision *= FORGETTING
        centred = one.ratios - (one.ratios @ q)[:, None]
        precision += w * centred @ np.diag(q) @ centred.T
        one.learn(label, w)
        np.testing.assert_allclose(one.covariance, np.linalg.inv(precision), rtol=1e-9)
        step = w * np.linalg.solve(precision, centred[:, label])
        np.testing.assert_allclose(one.weights, before + step, rtol=1e-9)


@pytest.mark.parametrize("w", [1e3, 1e6])
def test_a_large_weight_moves_the_odds_by_a_bounded_step(w):
    """The step has the direction of the gradient's, and changes the label's log odds by 1."""
    one = Correction(1, 2)
    base, p = np.array([0.99, 0.01]), np.array([[0.6, 0.4]])
    one.predict(p, base)
    slope = one.ratios[0, 1] - one.ratios[0, 0]
    one.learn(1, w)
    assert 0.0 < one.weights[0] * slope == pytest.approx(1.0)


def test_sharpens_an_expert_that_is_not_sure_enough():
    """Where the truth is p^2 the weight goes to 1, as the base is p itself, and another p."""
    rng = np.random.default_rng(2)
    one = Correction(2, 2)
    uniform = np.full(2, 0.5)
    for _ in range(20_000):
        p = simplex(rng, 1, 2)[0]
        truth = p**2 / (p**2).sum()
        one.predict(np.stack([p, uniform]), uniform)
        one.learn(int(rng.random() < truth[1]))
    assert one.weights[0] == pytest.approx(2.0, abs=0.25)
    assert one.weights[1] == 0.0


STREAMS = {
    "stationary": lambda rng, t: simplex(rng, 6, 3),
    "equal": lambda rng, t: np.full((6, 3), 1 / 3),
    "still": lambda rng, t: np.tile([[0.2, 0.3, 0.5], [0.7, 0.2, 0.1]], (3, 1)),
    "collinear": lambda rng, t: np.repeat(simplex(rng, 2, 3), 3, axis=0),
    "bursts": lambda rng, t: simplex(rng, 6, 3, spread=4.0 if t % 5_000 < 50 else 1e-4),
    "certain": lambda rng, t: np.eye(3)[rng.integers(3, size=6)] * (1 - 3e-5) + 1e-5,
    "drifting": lambda rng, t: np.roll(simplex(rng, 6, 3), t // 10_000, axis=0),
}


@pytest.mark.parametrize("name", STREAMS)
def test_outlives_its_forgetting(name):
    """After 60,000 events, 60 times its memory, the covariance is symmetric, has no negative
    eigenvalue, and at most the prior's trace; weights and predictions are finite.
    """
    rng, one = np.random.default_rng(3), Correction(6, 3)
    for t in range(60_000):
        p = STREAMS[name](rng, t)
        q = one.predict(p, p.mean(axis=0))
        one.learn(int(rng.random() * 3) if t % 2 else int(p[0].argmax()))
    np.testing.assert_array_equal(one.covariance, one.covariance.T)
    assert np.linalg.eigvalsh(one.covariance).min() > 0.0
    assert np.trace(one.covariance) <= 6 / PRECISION / FORGETTING * (1 + 1e-9)
    assert np.abs(one.weights).max() < 50.0
    assert q.min() >= LEAST_PROBABILITY / 3
