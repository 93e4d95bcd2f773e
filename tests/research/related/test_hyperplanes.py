"""Hyperplanes, against Crammer and Singer's machine of scikit-learn and steps by hand."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from iln_stream.research.related.amm import Hyperplanes


def three_classes(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    centres = np.array([[2.0, 0.0], [-1.0, 1.5], [-1.0, -1.5]])
    return np.column_stack([centres[y] + rng.standard_normal((n, 2)), np.ones(n)]), y


def trained(limit, lam=0.02, epochs=60):
    X, y = three_classes()
    model = Hyperplanes(lam, limit)
    for label in range(3):
        model.class_of(label)
    for seed in range(epochs):
        for i in np.random.default_rng(seed).permutation(len(X)):
            model.step(X[i], y[i])
    return model, X, y


def test_one_hyperplane_each_is_crammer_and_singers_machine():
    """With one hyperplane a class the objective is within 2 % of LinearSVC's optimum."""
    model, X, y = trained(limit=1)
    svc = LinearSVC(
        multi_class="crammer_singer", C=1 / (0.02 * len(X)), fit_intercept=False, tol=1e-9
    )
    svc.max_iter = 100_000
    own = svc.fit(X, y).decision_function(X)
    margin = own[np.arange(len(X)), y]
    own[np.arange(len(X)), y] = -np.inf
    best = 0.01 * np.sum(svc.coef_**2) + np.maximum(0, 1 + own.max(axis=1) - margin).mean()
    assert best <= model.objective(X, y, model.assigned(X, y)) <= 1.02 * best


def test_two_steps_by_hand():
    """The event's class gains eta x, its best rival loses eta x, and the rest decays."""
    model = Hyperplanes(lam=0.5, limit=2)
    a, b = model.class_of("a"), model.class_of("b")
    model.step(np.array([1.0, 0.0]), a)  # eta = 2
    assert dict(zip(model.owner, model.weights.tolist(), strict=True)) == {b: [-2, 0], a: [2, 0]}
    model.step(np.array([1.0, 1.0]), b)  # eta = 1; b scores -2, so it gets a second hyperplane
    assert model.weights.tolist() == [[-1, 0], [0, -1], [1, 1]]
    assert model.owner.tolist() == [b, a, b]
    model.step(np.array([-3.0, 0.0]), b)  # 3 beats 0 by more than 1: only the decay by 2/3
    np.testing.assert_allclose(model.weights, np.array([[-1, 0], [0, -1], [1, 1]]) * 2 / 3)


def test_a_score_of_0_makes_room_for_a_new_hyperplane():
    """An event that its class's hyperplanes are orthogonal to gets one of its own."""
    model = Hyperplanes(lam=1.0, limit=2)
    a = model.class_of("a")
    model.step(np.array([1.0, 0.0]), a)
    model.step(np.array([0.0, 1.0]), a)
    assert model.weights.tolist() == [[0.5, 0.0], [0.0, 0.5]]


def test_a_full_class_moves_its_best_hyperplane():
    """At the limit no hyperplane is added, however bad the score."""
    model, *_ = trained(limit=2, epochs=2)
    assert np.bincount(model.owner).max() <= 2


def test_assignment_is_the_best_one():
    """No other assignment has a lower objective: neither random ones nor single changes."""
    model, X, y = trained(limit=4, epochs=3)
    z = model.assigned(X, y)
    assert (model.owner[z] == y).all()
    best = model.objective(X, y, z)
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = np.array([rng.choice(np.flatnonzero(model.owner == label)) for label in y])
        assert model.objective(X, y, other) >= best


def test_pruning_spends_its_norm():
    """The smallest hyperplanes go while their joint norm allows, and each class keeps one."""
    model = Hyperplanes(lam=1.0, limit=9)
    model.t = 1
    model.classes = ["a", "b"]
    model.owner = np.array([0, 0, 0, 1])
    model._V = np.array([[3.0], [4.0], [50.0], [1.0]])
    assert model.prune(c=5.0) == 1  # 1 + 9 <= 25 < 1 + 9 + 16; b keeps its only one
    assert model.weights.tolist() == [[4.0], [50.0], [1.0]]
    assert model.prune(c=1e6) == 1
    assert model.weights.tolist() == [[50.0], [1.0]]


@pytest.mark.parametrize("limit", [1, 5])
def test_scores_of_rows_are_scores_of_each(limit):
    """Many rows and one by one get the same scores, also with columns never seen."""
    model, X, _ = trained(limit, epochs=1)
    np.testing.assert_allclose(model.scores(X[:4]), [model.scores(x) for x in X[:4]])
    wide = np.pad(X[:4], ((0, 0), (0, 2)), constant_values=9.0)
    np.testing.assert_allclose(model.scores(wide), model.scores(X[:4]))
