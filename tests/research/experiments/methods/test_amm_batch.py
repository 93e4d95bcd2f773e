"""AMM batch, against what alternating must do."""

import numpy as np

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
