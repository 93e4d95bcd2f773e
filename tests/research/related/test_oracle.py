"""Algorithm 1 on an oracle of the scalar product."""

import copy
import pickle

import numpy as np
import pytest

from iln_stream.features import DecisionStumps
from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.research.related.oracle import Oracle

FAMILY = DecisionStumps()


def by_stumps(X, x, rng):
    w = FAMILY.draw(len(X), len(x), rng)
    return FAMILY.psi(X, w) * FAMILY.psi(x, w)


def noisy_linear(X, x, rng):
    """No hidden units: a coin whose mean is x'.x / d."""
    mean = np.clip(X @ x / len(x), -1.0, 1.0)
    return np.where(rng.random(len(X)) < (1.0 + mean) / 2.0, 1.0, -1.0)


def stream(n, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, d))
    return X, X @ np.array([0.5, -0.3, 0.1][:d])


def test_same_as_a_family():
    """An oracle that draws from a family gives its estimates, draw by draw, to rounding."""
    options = {"draws": 50, "step": 0.3, "norm_bound": 1.0, "seed": 4}
    family = ShrinkingGradient(FAMILY, **options)
    oracle = ShrinkingGradient(estimator=Oracle(by_stumps), **options)
    for x, y in zip(*stream(60), strict=True):
        assert oracle.estimate_row(x) == pytest.approx(family.estimate_row(x), abs=1e-12)
        oracle.learn_row(x, y)
        family.learn_row(x, y)


def test_unbiased():
    """Over 2,000 events E has mean sum_i alpha_i <Phi(x_i), Phi(x)>, within five standard errors,
    for an oracle that no family of hidden units is behind."""
    model = ShrinkingGradient(estimator=Oracle(noisy_linear), draws=20, step=0.5, seed=1)
    X, y = stream(30)
    for x, target in zip(X, y, strict=True):
        model.learn_row(x, target)
    x = np.array([0.9, -0.2, 0.4])
    f = model._f
    exact = float(f.support.alpha @ (f.support.rows(3) @ x / 3))
    found = np.array([f.estimate(x, t).value for t in range(2000)])
    assert abs(found.mean() - exact) < 5 * found.std() / np.sqrt(len(found))


def test_copies_and_state_continue():
    """Copies, pickles and a restored learner go on with the same estimates."""
    make = lambda: ShrinkingGradient(estimator=Oracle(noisy_linear), draws=20, step=0.5, seed=1)  # noqa: E731
    model = make()
    X, y = stream(40)
    for x, target in zip(X[:20], y, strict=False):
        model.learn_row(x, target)
    restored = make()
    restored.restore(model.state())
    others = [copy.deepcopy(model), pickle.loads(pickle.dumps(model)), restored]
    for x, target in zip(X[20:], y[20:], strict=True):
        for other in (model, *others):
            other.learn_row(x, target)
        assert len({other.estimate_row(X[0]).value for other in (model, *others)}) == 1


@pytest.mark.parametrize(
    ("product", "message"),
    [
        (lambda X, x, rng: X @ x, r"product returned 2\d: divide it by its bound"),
        (lambda X, x, rng: np.full(len(X), np.nan), "product returned nan"),
        (lambda X, x, rng: 0.5, r"product returned shape \(\) for 20 points, not \(20,\)"),
    ],
)
def test_bad_oracles(product, message):
    """An oracle that leaves [-1, 1], or returns another shape, is refused with the remedy."""
    model = ShrinkingGradient(estimator=Oracle(product), draws=20, seed=1)
    x = np.full(3, 3.0)
    model.learn_row(x, 1.0)
    with pytest.raises(ValueError, match=message):
        model.estimate_row(x)


@pytest.mark.parametrize(("arguments", "field"), [(("x",), "product"), ((by_stumps, 1.5), "q")])
def test_bad_arguments(arguments, field):
    """Errors name the argument."""
    with pytest.raises(ValueError, match=f"{field} = "):
        Oracle(*arguments)


def test_no_layer_to_freeze():
    """Freezing explains that an oracle has no units."""
    model = ShrinkingGradient(estimator=Oracle(noisy_linear), draws=20, seed=1)
    model.learn_row(np.ones(3), 1.0)
    with pytest.raises(ValueError, match="no hidden units to freeze"):
        model._f.finite_layer(8, 3, np.random.default_rng(0))
