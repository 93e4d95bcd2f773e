"""KRLS-T against what it stands for."""

import numpy as np
import pytest

from benchmarks.quality.learners.krls_t import JITTER, KRLST


def dicts(X):
    return [dict(enumerate(row)) for row in X]


def gram(X, Z):
    return np.exp(-0.5 / X.shape[1] * ((X[:, None] - Z[None]) ** 2).sum(axis=-1))


def test_without_forgetting_and_with_room_it_is_the_gaussian_process():
    """Mean of the posterior, solved at once; points that the others determine change nothing."""
    rng = np.random.default_rng(3)
    X, Z = rng.normal(size=(2, 60, 3))
    y = np.sin(X[:, 0]) + X[:, 1]
    model = KRLST(n_points=100, forgetting=1.0, noise=0.2)
    for x, y_t in zip(dicts(X), y, strict=True):
        model.learn_one(x, y_t)
    wanted = gram(Z, X) @ np.linalg.solve(gram(X, X) + 0.2 * np.eye(60), y)
    assert [model.predict_one(x) for x in dicts(Z)] == pytest.approx(wanted, abs=2e-3)


def test_it_keeps_its_budget_and_its_digits():
    """After thousands of points came and went, the inverse is still that of the kernel matrix."""
    rng = np.random.default_rng(4)
    model = KRLST(n_points=30)
    for x in dicts(rng.normal(size=(3000, 3))):
        model.learn_one(x, x[0] * x[1])
    kernel = gram(model.points, model.points) + JITTER * np.eye(30)
    assert model.kernel == pytest.approx(kernel)
    assert model.inverse @ kernel == pytest.approx(np.eye(30), abs=1e-6)
    assert np.linalg.eigvalsh(model.covariance)[0] > 0


def test_it_forgets():
    """After the function changes its sign, forgetting soon follows, and its absence does not."""
    rng = np.random.default_rng(5)
    errors = []
    for forgetting in (0.99, 1.0):
        model = KRLST(n_points=40, forgetting=forgetting)
        for t, x in enumerate(dicts(rng.normal(size=(1200, 2)))):
            model.learn_one(x, x[0] if t < 900 else -x[0])
        errors.append(
            np.mean([abs(model.predict_one(x) + x[0]) for x in dicts(rng.normal(size=(50, 2)))])
        )
    assert errors[0] < 0.3 < errors[1]


def test_a_repeated_input_is_no_new_point():
    """Its target is learned, but the kernel matrix stays invertible."""
    model = KRLST(n_points=10, noise=0.01)
    for _ in range(30):
        model.learn_one({"a": 1.0}, 2.0)
    assert len(model.points) == 1
    assert model.predict_one({"a": 1.0}) == pytest.approx(2.0, abs=0.1)
