import numpy as np
import pytest
from support.states import same

from iln_stream.kernels.ridges import WAITING, learn
from iln_stream.learners.infinite_layer.expert import Observation
from iln_stream.learners.infinite_layer.experts.forgetting_rls import BLOCK, ForgettingRLS
from iln_stream.learners.infinite_layer.experts.rls_bank import (
    HUBER,
    RIDGE,
    RLSBank,
    RLSSpec,
    initial_covariance,
    untrained_record,
)


class Follower:
    """The expert on D given features, in a bank of one predictor."""

    def __init__(self, D, forgetting):
        self.bank = RLSBank((RLSSpec("followed", None),), 0, n_lags=0)
        self.expert = ForgettingRLS(self.bank, 0, forgetting)
        self.bank.widen(D - 1)
        self.expert.widen(D - 1)
        self.event, self.p, self.own = Observation(0, D - 1), np.zeros(1), np.zeros(1)

    def predict(self, phi):
        self.bank.phi[0, : len(phi)] = phi
        self.expert.predict(self.event, self.p)
        return self.p[0]

    def learn(self, t):
        self.expert.learn(self.event, t, self.p)

    def learn_both(self, phi, t):
        """Let the followed predictor learn the event, too, as in a mixture."""
        self.event.v[:] = phi[1:] / 0.3
        self.bank.predict(self.event, self.own)
        self.expert.predict(self.event, self.p)
        self.bank.learn(self.event, t, self.own)
        self.learn(t)


def stream(n, D, seed, weights):
    """Rows of D features and noisy targets."""
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=(n, D))
    return phi, phi @ weights + 0.01 * rng.normal(size=n)


def test_one_block_is_exact():
    """Without forgetting, features that fit into one block are learned by exact least squares."""
    D = BLOCK
    weights = np.random.default_rng(9).normal(size=D) / 10
    follower = Follower(D, forgetting=1.0)
    P, pending, theta, record = (
        initial_covariance(D), np.zeros((WAITING, D)), np.zeros(D), untrained_record()
    )  # fmt: skip
    for phi, t in zip(*stream(300, D, 0, weights), strict=True):
        p = follower.predict(phi)
        follower.learn(float(t))
        learn(P, pending, theta, record, phi, np.zeros(D), t, p, 1.0, 1.0, RIDGE, HUBER)
        assert follower.expert.theta == pytest.approx(theta, abs=1e-9)


def test_follows_drift():
    """After the weights turn over, 600 events are enough to predict well again."""
    D = 40
    weights = np.random.default_rng(9).normal(size=D) / 20
    follower = Follower(D, forgetting=0.99)
    errors = []
    for sign in (1.0, -1.0):
        for phi, t in zip(*stream(1_500, D, 0, sign * weights), strict=True):
            errors.append(abs(follower.predict(phi) - t))
            follower.learn(float(t))
    assert np.mean(errors[2_100:]) < 0.1 * np.mean(errors[1_500:1_510])


def test_restarts_when_the_followed_units_are_redrawn():
    """Only then does it take over weights and covariance, and only by learning."""
    D, rng = 70, np.random.default_rng(1)
    weights = rng.normal(size=D) / 100
    follower = Follower(D, forgetting=0.9)
    expert, bank = follower.expert, follower.bank
    phis, ts = stream(50, D, 0, weights)
    phis[:, 0] = 1.0
    for phi, t in zip(phis[:-1], ts[:-1], strict=True):
        follower.learn_both(phi, t)
    assert follower.predict(phis[-1]) != pytest.approx(bank.theta[0, :D] @ phis[-1])
    bank.drawn_at[0] = 49
    before = expert.state()
    follower.predict(phis[-1])
    assert same(expert.state(), before)
    follower.learn_both(phis[-1], ts[-1])
    assert follower.predict(phis[0]) == pytest.approx(bank.theta[0, :D] @ phis[0])
    last = bank.covariance(0)[64:D, 64:D]
    assert expert.P[2, :6, :6] == pytest.approx(last)
    assert (expert.P[2, 6:, 6:] == np.eye(BLOCK - 6) / RIDGE).all()
    follower.learn_both(phis[1], ts[1])
    assert follower.predict(phis[0]) != pytest.approx(bank.theta[0, :D] @ phis[0])
