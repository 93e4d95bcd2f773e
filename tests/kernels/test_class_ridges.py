import numpy as np
import pytest
from kernels import plain

from iln_stream.kernels.activations import COS, RELU
from iln_stream.kernels.columns import ABSENT, join, no_statistics
from iln_stream.kernels.regression_event import StoredEvents
from iln_stream.kernels.ridges import (
    WAITING,
    column,
    learn_class_all,
    predict_classes,
    replay_classes,
    update_class_agop,
)
from iln_stream.learners.infinite_layer.experts.rls_bank import (
    RIDGE,
    RLSState,
    initial_covariance,
    untrained_record,
)

d, R, D = 3, 9, 16
ACTIVATION = np.array([COS, RELU])
LINEAR = np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 0.0]])
K = len(ACTIVATION)


def some(C):
    """omega and b of K experts, and weights for C classes."""
    rng = np.random.default_rng(C)
    omega = rng.normal(size=(K, d, R)).astype(np.float32)
    return omega, rng.normal(size=(K, R)).astype(np.float32), rng.normal(size=(K, C, D)) / 4


@pytest.mark.parametrize("C", [0, 1, 4])
def test_scores_and_agop_are_those_of_all_classes(C):
    """p[k, c] = theta[k, c].phi_k, unbounded; an expert's AGOP sums over all classes."""
    omega, b, theta = some(C)
    phi, u, p = np.zeros((K, D)), np.empty((K, R), np.float32), np.empty((K, C))
    agop = np.tile(np.eye(d), (K, 1, 1))
    expected = agop.copy()
    for v in np.random.default_rng(0).normal(size=(10, d)):
        predict_classes(omega, b, ACTIVATION, LINEAR, theta, v, u, phi, p)
        update_class_agop(omega, ACTIVATION, LINEAR, theta, u, 0.3, agop)
        for k in range(K):
            expert = omega[k], b[k], ACTIVATION[k] == COS, LINEAR[k]
            assert phi[k] == pytest.approx(plain.features(*expert, v, D), abs=2e-5)
            assert p[k] == pytest.approx(theta[k] @ plain.features(*expert, v, D), abs=1e-4)
            expected[k] *= 0.7
            for of_class in theta[k]:
                g = plain.gradient(*expert, of_class, v)
                expected[k] += 0.3 * np.outer(g, g)
    assert agop == pytest.approx(expected, rel=1e-4, abs=1e-4 * np.abs(expected).max())


def test_all_classes_solve_their_normal_equations():
    """The targets are 1 for the observed class and 0 for the others, on each expert's features."""
    C, rng = 3, np.random.default_rng(1)
    P, pending = np.tile(initial_covariance(D), (K, 1)), np.zeros((K, WAITING, D))
    theta, record = np.zeros((K, C, D)), np.tile(untrained_record(), (K, 1))
    experts = [plain.Normal(D, n_targets=C) for _ in range(K)]
    for n in range(100):
        phi, label = rng.normal(size=(K, D)), int(rng.integers(C))
        w = [1.0, 0.0, 20.0][n % 3]
        learn_class_all(P, pending, theta, record, phi, label, w, np.empty(D))
        for k, expert in enumerate(experts):
            expert.learn(phi[k], np.eye(C)[label], w=w)
            if n in (0, 6, 7, 8, 99):
                assert theta[k] == pytest.approx(expert.theta.T, abs=1e-9)


def some_features(kind, n, rng):
    """The features of n events."""
    phi = rng.normal(size=(n, D))
    if kind == "still":
        phi[:] = phi[0]
    elif kind == "constant":
        phi[:] = 1.0
    elif kind == "collinear":
        phi[:, 1::2] = phi[:, ::2]
    elif kind == "one-hot":
        phi[:] = np.eye(D)[rng.integers(0, D, n)]
    elif kind == "bursting":
        phi *= np.where(np.arange(n) % 1_000 < 20, 10.0, 1e-3)[:, None]
    elif kind == "drifting":
        phi += np.linspace(-3.0, 3.0, n)[:, None]
    return phi


@pytest.mark.parametrize(
    "kind", ["stationary", "still", "constant", "collinear", "one-hot", "bursting", "drifting"]
)
def test_long_streams_of_classes(kind):
    """After 30,000 events scores and covariance are still those of the normal equations."""
    C, n, rng = 3, WAITING * 3_750, np.random.default_rng(4)
    P, pending = initial_covariance(D)[np.newaxis], np.zeros((1, WAITING, D))
    theta, record = np.zeros((1, C, D)), untrained_record()[np.newaxis]
    phi, labels = some_features(kind, n, rng), rng.integers(C, size=n)
    for row, label in zip(phi[:, np.newaxis], labels.tolist(), strict=True):
        learn_class_all(P, pending, theta, record, row, label, 1.0, np.empty(D))
    information = RIDGE * np.eye(D) + phi.T @ phi
    covariance = np.empty((D, D))
    for i in range(D):
        column(P[0], pending[0], record[0], i, covariance[i])
    assert (covariance == covariance.T).all()
    assert covariance @ information == pytest.approx(np.eye(D), abs=1e-6)
    expected = np.linalg.solve(information, phi.T @ np.eye(C)[labels]).T
    assert theta[0] == pytest.approx(expected, abs=1e-7 * (1.0 + np.abs(expected).max()))


@pytest.mark.parametrize(
    ("first", "last"), [(5, 5), (0, 25), (20, 55)], ids=["none", "some", "ring"]
)
@pytest.mark.parametrize("k", range(K))
def test_replay_learns_the_stored_events(k, first, last):
    """A candidate has then learned events first..last - 1, by the given statistics."""
    C, size, rng = 2, 40, np.random.default_rng(2)
    columns, labels = rng.normal(size=(d, size)), rng.integers(0, C, size).astype(float)
    columns[1] += 1000.0
    columns[1, ::3] = ABSENT
    weights = rng.choice([0.0, 0.5, 1.0, 20.0], size=size)
    stats, known = no_statistics(d), [plain.Column() for _ in range(d)]
    for row in columns.T:
        join(row.copy(), stats, 0)
        plain.joined(known, row)
    omega, b, _ = some(C)
    theta, normal = np.zeros((C, D)), plain.Normal(D, n_targets=C)
    stored = StoredEvents(columns, np.zeros((size, 0)), labels, weights)
    new = RLSState(
        omega[k], b[k], initial_covariance(D), np.zeros((WAITING, D)), theta, untrained_record()
    )
    replay_classes(stored, first, last, stats, new, ACTIVATION[k], LINEAR[k])
    for i in range(first, last):
        row = columns[:, i % size]
        z = np.array([c.deviation(x, c.joined) for c, x in zip(known, row, strict=True)])
        phi = plain.features(omega[k], b[k], ACTIVATION[k] == COS, LINEAR[k], z, D)
        normal.learn(phi, np.eye(C)[int(labels[i % size])], w=weights[i % size])
    assert theta == pytest.approx(normal.theta.T, abs=1e-4)
