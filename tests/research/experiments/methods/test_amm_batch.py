"""AMM batch, against what alternating must do and the machine with one hyperplane a class."""

import numpy as np
from sklearn.svm import LinearSVC

from iln_stream.research.experiments.methods.amm_batch import AdaptiveMultiHyperplaneBatch


def quadrants(n, seed):
    X = np.random.default_rng(seed).uniform(-1, 1, (n, 2))
    return np.column_stack([X, np.ones(n)]), np.where(X[:, 0] * X[:, 1] > 0, "same", "other")


def test_assigning_never_raises_the_objective():
    """At fixed hyperplanes the new assignments are at least as good as those before."""
    X, y = quadrants(1000, seed=0)
    model = AdaptiveMultiHyperplaneBatch(lam=1e-3, rounds=6, prune=1e-6).fit(X, y)
    assert len(model.objectives) == 5
    assert all(after <= before for before, after in model.objectives)
    assert any(after < before for before, after in model.objectives)


def test_learns_what_one_hyperplane_cannot():
    """Four quadrants are learned with several hyperplanes a class."""
    model = AdaptiveMultiHyperplaneBatch(lam=1e-3).fit(*quadrants(3000, seed=0))
    Z, labels = quadrants(1000, seed=1)
    assert np.mean(np.array(model.predict(Z)) == labels) > 0.9


def test_one_hyperplane_each_is_crammer_and_singers_machine():
    """With one hyperplane a class the objective is within 2 % of LinearSVC's optimum."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((300, 2)), np.ones(300)])
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(300) > 0, 1, 0)
    lam = 0.02
    model = AdaptiveMultiHyperplaneBatch(lam, limit=1, rounds=60).fit(X, y)
    svc = LinearSVC(loss="hinge", C=1 / (lam * 300) * 2, fit_intercept=False, max_iter=10**6)
    # Two classes with weights -w and w: the margin is 2 <w, x>, the norm 2 ||w||^2.
    u = svc.fit(X, 2 * y - 1).coef_[0] / 2
    best = lam * u @ u + np.maximum(0, 1 - 2 * (2 * y - 1) * (X @ u)).mean()
    labels = np.array([model.model.class_of(label) for label in y.tolist()])
    found = model.model.objective(X, labels, model.model.assigned(X, labels))
    assert best * (1 - 1e-4) <= found <= 1.02 * best
