"""The adaptive multi-hyperplane machine, on borders that one hyperplane cannot draw."""

import numpy as np

from iln_stream.research.related import AdaptiveMultiHyperplane


def quadrants(n, seed):
    """Yield points whose class is the sign of x0 x1."""
    rng = np.random.default_rng(seed)
    for a, b in rng.uniform(-1, 1, (n, 2)):
        yield {"a": a, "b": b}, "same" if a * b > 0 else "other"


def accuracy(model):
    test = list(quadrants(2000, seed=1))
    return np.mean([model.predict_one(x) == y for x, y in test])


def trained(**parameters):
    model = AdaptiveMultiHyperplane(lam=1e-3, **parameters)
    for x, y in quadrants(6000, seed=0):
        model.learn_one(x, y)
    return model


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
