"""The adaptive multi-hyperplane machine, against Crammer and Singer's of scikit-learn, by hand, and
on borders that one hyperplane cannot draw.
"""

import numpy as np
from sklearn.svm import LinearSVC
from support.prequential import learned

from iln_stream.research.related import AdaptiveMultiHyperplane
from iln_stream.research.related.amm import Hyperplanes


def quadrants(n, seed):
    """Yield points whose class is the sign of x0 x1."""
    rng = np.random.default_rng(seed)
    for a, b in rng.uniform(-1, 1, (n, 2)):
        yield {"a": a, "b": b}, "same" if a * b > 0 else "other"


def accuracy(model):
    test = list(quadrants(2000, seed=1))
    return np.mean([model.predict_one(x) == y for x, y in test])


def trained(**parameters):
    return learned(AdaptiveMultiHyperplane(lam=1e-3, **parameters), quadrants(6000, seed=0))


def test_learns_what_one_hyperplane_cannot():
    """Four quadrants need two hyperplanes a class; one each is as good as guessing."""
    assert accuracy(trained()) > 0.9
    assert accuracy(trained(limit=1)) < 0.65


def test_number_of_hyperplanes_adapts():
    """Hyperplanes stay within the limit, and pruning leaves fewer of them."""
    free, pruned = trained(prune_every=10**6), trained(prune_every=500, prune=1.0)
    assert set(free.n_hyperplanes) == {"same", "other"}
    assert max(free.n_hyperplanes.values()) <= 20
    assert sum(pruned.n_hyperplanes.values()) < sum(free.n_hyperplanes.values())
    assert accuracy(pruned) > 0.9


def test_classes_join_as_they_come():
    """Nothing is predicted before the first label, and a third class is learned when it appears."""
    model = AdaptiveMultiHyperplane(lam=0.01)
    assert model.predict_one({"a": 1.0}) is None
    for t in range(60):
        for name, y in (("a", 1), ("b", "two"), ("c", 3))[: 2 + (t > 30)]:
            model.learn_one({name: 2.0}, y)
    assert [model.predict_one({name: 2.0}) for name in "abc"] == [1, "two", 3]


def test_several_is_one_by_one():
    """Inputs together get the classes that they get one by one, also with new names."""
    model = trained()
    xs = [*(x for x, _ in quadrants(50, seed=2)), {"a": 0.5, "new": 3.0}, {}]
    assert model.predict_several(xs) == [model.predict_one(x) for x in xs]


def three_classes(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    centres = np.array([[2.0, 0.0], [-1.0, 1.5], [-1.0, -1.5]])
    return np.column_stack([centres[y] + rng.standard_normal((n, 2)), np.ones(n)]), y


def hyperplanes(limit, lam=0.02, epochs=60):
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
    model, X, y = hyperplanes(limit=1)
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
    model, *_ = hyperplanes(limit=2, epochs=2)
    assert np.bincount(model.owner).max() <= 2


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
