"""Pegasos, against steps by hand and its own unscaled form."""

import numpy as np
import pytest
from support.two_classes import as_dict, blobs, events, learn_all

from iln_stream.research.related import Pegasos


def weights(model, d):
    return np.array([model.weights.get(f"x{j}", 0.0) for j in range(d)])


def plain_pegasos(X, y, lam, batch, project):
    """The source's Figure 2, with w as it stands there."""
    w = np.zeros(X.shape[1])
    for t in range(1, len(X) // batch + 1):
        A = slice((t - 1) * batch, t * batch)
        inside = y[A] * (X[A] @ w) < 1
        eta = 1 / (lam * t)
        w = (1 - eta * lam) * w + eta / batch * (y[A] * inside) @ X[A]
        if project and w.any():
            w = min(1.0, 1 / np.sqrt(lam) / np.linalg.norm(w)) * w
    return w


def test_two_steps_by_hand():
    """w_2 = y x / lambda; at t = 2 half of it stays, and a violator adds y x / (2 lambda)."""
    model = Pegasos(lam=0.5)
    model.learn_one({"a": 1.0}, True)
    assert model.weights == {"a": 2.0}
    model.learn_one({"a": 1.0, "b": 2.0}, False)
    assert model.weights == {"a": 0.0, "b": -2.0}
    model.learn_one({"b": -3.0}, True)  # outside of the margin: only the decay by 2/3
    assert model.weights == pytest.approx({"a": 0.0, "b": -4 / 3})


@pytest.mark.parametrize(("batch", "project"), [(1, False), (7, True)])
def test_is_the_sources_algorithm(batch, project):
    """The scaled sparse form takes the steps of Figures 1 and 2."""
    X, y = blobs(350)
    model = learn_all(Pegasos(lam=0.02, batch=batch, project=project), X, y)
    np.testing.assert_allclose(
        weights(model, 3), plain_pegasos(X, y, 0.02, batch, project), rtol=1e-9
    )


def test_projection_holds_the_norm():
    """With projection ||w|| never exceeds 1 / sqrt(lambda), also after inputs of a million."""
    X, y = blobs(300)
    X[100:200] *= 1e6
    model = Pegasos(lam=0.01, project=True)
    norms = []
    for x, label in events(X, y):
        model.learn_one(x, label)
        norms.append(np.linalg.norm(weights(model, 3)))
    assert max(norms) == pytest.approx(10.0)


def test_intercept_is_an_input_that_is_always_1():
    """The intercept is the same as a constant input, in weights and in decisions."""
    X, y = blobs(200)
    with_one = learn_all(Pegasos(), np.column_stack([X, np.ones(200)]), y)
    model = learn_all(Pegasos(intercept=True), X, y)
    assert model.weights[None] == pytest.approx(with_one.weights["x3"])
    assert model.decision_one(as_dict(X[0])) == pytest.approx(
        with_one.decision_one({**as_dict(X[0]), "x3": 1.0})
    )


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ({"a": 1.0}, -1, r"y is -1: .* False and True"),
        ({"a": float("nan")}, True, r"x\['a'\] is nan: inputs must be finite"),
        ({"a": "red"}, True, r"x\['a'\] is 'red': write the category"),
    ],
)
def test_bad_events(x, y, message):
    """A label or an input that cannot be learned is named in the error, and changes nothing."""
    model = Pegasos()
    with pytest.raises(ValueError, match=message):
        model.learn_one(x, y)
    assert model.weights == {}


def test_bad_arguments():
    """The error about an argument names it."""
    with pytest.raises(ValueError, match="lam = 0 must be a positive"):
        Pegasos(lam=0)
    with pytest.raises(ValueError, match="batch = 0 must be a whole number"):
        Pegasos(batch=0)
