import numpy as np
import pytest
from kernels import plain

from iln_stream.kernels.activations import COS, RELU
from iln_stream.kernels.ridges import WAITING, learn_all, predict_all, update_agop
from iln_stream.learners.infinite_layer.experts.rls_bank import initial_covariance, untrained_record

d, R, D = 3, 9, 16
ACTIVATION = np.array([COS, RELU, COS])
FORGETTING = np.array([1.0, 0.9, 0.97])
K = len(ACTIVATION)


@pytest.fixture
def bank():
    """omega, b, activation and linear of K experts, and weights."""
    rng = np.random.default_rng(0)
    omega = rng.normal(size=(K, d, R)).astype(np.float32)
    b = rng.normal(size=(K, R)).astype(np.float32)
    linear = np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    return omega, b, ACTIVATION, linear, rng.normal(size=(K, D)) / 8


def plain_features(bank, v):
    omega, b, activation, linear, _ = bank
    units = zip(omega, b, activation == COS, linear, strict=True)
    return np.array([plain.features(*unit, v, D) for unit in units])


def test_predictions_are_those_of_each_expert(bank):
    """p_k is theta_k times the expert's own features, held within two units."""
    *_, theta = bank
    theta[1] *= 100.0
    phi, u, p = np.zeros((K, D)), np.empty((K, R), np.float32), np.empty(K)
    beyond = 0
    for v in np.random.default_rng(1).normal(size=(20, d)):
        predict_all(*bank, v, u, phi, p)
        expected = plain_features(bank, v)
        assert phi == pytest.approx(expected, abs=2e-5)
        assert p == pytest.approx(np.clip(np.vecdot(theta, expected), -2.0, 2.0), abs=1e-3)
        beyond += abs(p[1]) == 2.0
    assert beyond > 5


def test_each_expert_solves_its_own_normal_equations():
    """All learn one weighted target, each with its features, forgetting and Huber weights."""
    rng = np.random.default_rng(2)
    P, pending = np.tile(initial_covariance(D), (K, 1)), np.zeros((K, WAITING, D))
    theta, record = np.zeros((K, D)), np.tile(untrained_record(), (K, 1))
    experts = [plain.Normal(D, forgetting, 0.1, huber=1.5) for forgetting in FORGETTING]
    for n in range(300):
        phi, p = rng.normal(size=(K, D)), rng.normal(size=K)
        t, w = rng.standard_t(2.0), [1.0, 0.0, 0.3, 20.0][n % 4]
        learn_all(P, pending, theta, record, phi, p, t, w, FORGETTING, 0.1, 1.5, np.empty(D))
        for k, expert in enumerate(experts):
            expert.learn(phi[k], t, p[k], w)
            if n in (0, 1, 25, 299):
                assert theta[k] == pytest.approx(expert.theta[:, 0], abs=1e-9)


@pytest.mark.parametrize("rate", [1.0, 0.2, 0.0])
def test_agop_is_a_mean_of_outer_products(bank, rate):
    """The gradients of each expert join its own average outer product, at the given rate."""
    omega, b, activation, linear, theta = bank
    phi, u, p = np.zeros((K, D)), np.empty((K, R), np.float32), np.empty(K)
    agop = np.tile(np.eye(d), (K, 1, 1))
    expected = agop.copy()
    for v in np.random.default_rng(3).normal(size=(12, d)):
        predict_all(*bank, v, u, phi, p)
        update_agop(omega, activation, linear, theta, u, rate, agop)
        for k in range(K):
            g = plain.gradient(omega[k], b[k], activation[k] == COS, linear[k], theta[k], v)
            expected[k] = (1.0 - rate) * expected[k] + rate * np.outer(g, g)
    assert agop == pytest.approx(expected, rel=1e-4, abs=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_agop_leaves_out_a_gradient_that_is_not_finite(bank, value):
    """The other experts' outer products go on."""
    omega, _, activation, linear, theta = bank
    phi, u, p = np.zeros((K, D)), np.empty((K, R), np.float32), np.empty(K)
    agop = np.tile(np.eye(d), (K, 1, 1))
    before = agop.copy()
    predict_all(*bank, np.ones(d), u, phi, p)
    broken = theta.copy()
    broken[0] = value
    update_agop(omega, activation, linear, broken, u, 0.5, agop)
    assert (agop[0] == before[0]).all()
    assert np.isfinite(agop).all()
    assert (agop[1:] != before[1:]).any()
