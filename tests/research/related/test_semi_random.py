"""Semi-random features, against finite differences and closed forms."""

import math

import numpy as np
import pytest
from support.two_classes import as_dict, blobs, learn_all

from iln_stream.research.related import SemiRandomClassifier, SemiRandomRegressor

X, Y = blobs(200)
ONE = np.column_stack([np.ones(200), X])


def learn(model, y, passes=1):
    for _ in range(passes):
        learn_all(model, X, y)
    return model


def network(model, W):
    """f of `SemiRandomRegressor`'s docstring, unit by unit."""
    outputs = []
    for x in ONE:
        h_r = h_w = x
        for R, V in zip(model._R, W, strict=True):
            z = R.T @ h_r
            scale = math.sqrt(len(h_r)) if model.power else 1.0
            h_r = np.array([(z_k / scale) ** model.power if z_k > 0 else 0.0 for z_k in z])
            h_w = np.array([h_r[k] * (V[:, k] @ h_w) for k in range(len(z))])
        outputs.append(h_w.sum() / math.sqrt(len(h_w)))
    return np.array(outputs)


@pytest.mark.thorough
@pytest.mark.parametrize(("hidden", "power"), [((7,), 1), ((7, 5), 0), ((7, 5, 4), 1)])
def test_is_the_sources_network(hidden, power):
    """f is the formula, and a step follows the gradient that finite differences give."""
    model = learn(SemiRandomRegressor(hidden, power, step=0.05, lam=0.0, seed=1), Y)
    W = [V.copy() for V in model._W]
    np.testing.assert_allclose(model.decision_many(map(as_dict, X)), network(model, W), atol=1e-9)
    gradient = []
    for V in W:
        slopes = np.zeros_like(V)
        for index in np.ndindex(V.shape):
            kept = V[index]
            values = []
            for change in (1e-5, -1e-5):
                V[index] = kept + change
                values.append(network(model, W)[0])
            V[index] = kept
            slopes[index] = (values[0] - values[1]) / 2e-5
        gradient.append(slopes)
    residual = network(model, W)[0] - 3.0
    model.learn_one(as_dict(X[0]), 3.0)
    size = max(1.0, sum((g**2).sum() for g in gradient))
    for V, before, g in zip(model._W, W, gradient, strict=True):
        np.testing.assert_allclose(V, before - 0.05 * residual * g / size, atol=1e-7)


def test_one_layer_has_its_closed_form_kernel():
    """The kernel of linear semi-random features is <x, x'> (pi - angle) / 2 pi."""
    model = SemiRandomRegressor((40_000,), seed=0)
    model.learn_one(as_dict(X[0]), 0.0)
    gates = (ONE[:6] @ model._R[0] > 0).astype(float)
    products = ONE[:6] @ ONE[:6].T
    norms = np.linalg.norm(ONE[:6], axis=1)
    angles = np.arccos(np.clip(products / np.outer(norms, norms), -1, 1))
    found = products * (gates @ gates.T) / 40_000
    exact = products * (math.pi - angles) / (2 * math.pi)
    np.testing.assert_allclose(found, exact, atol=0.015 * np.abs(products).max())


@pytest.mark.parametrize(("hidden", "power"), [((8,), 0), ((8, 6), 1)])
def test_new_columns_and_huge_inputs(hidden, power):
    """New names leave f as it was for events without them; inputs of 1e15 leave f finite."""
    model = learn(SemiRandomClassifier(hidden, power, seed=1), Y > 0)
    before = model.decision_one(as_dict(X[0]))
    model._widen(5)
    assert model.decision_one(as_dict(X[0])) == pytest.approx(before, rel=1e-12)
    for _ in range(5):
        model.learn_one({"x0": 1e15, "x1": -1e15, "new": 1e15}, True)
    assert math.isfinite(model.decision_one(as_dict(X[0])))
