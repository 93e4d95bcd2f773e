import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from iln_stream.features import (
    ArcCosine,
    Erf,
    GaussianFourier,
    LaplacianFourier,
    Mixture,
    Sigmoid,
    Tanh,
)
from iln_stream.learners.estimators import FiniteLayer
from iln_stream.learners.estimators.finite_layer import layer_of

FAMILIES = [
    LaplacianFourier(0.4),
    Erf(),
    Tanh(),
    Sigmoid(),
    ArcCosine(radius=0.7),
    Mixture((Mixture.of_bandwidths((0.1, 3.0)), LaplacianFourier()), weights=(1.0, 2.0)),
    Mixture((ArcCosine(2.0), ArcCosine(2.0))),
]


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
@settings(max_examples=10, deadline=None)
@given(arrays(np.float64, (3, 4), elements=st.floats(-10.0, 10.0)))
def test_it_is_the_weighted_sum_of_the_familys_units(family, X):
    """The layer of a family's draws is sum_r weights_r psi(x; w_r), to rounding."""
    w, weights = family.draw(50, 4, np.random.default_rng(1)), np.linspace(-1.0, 2.0, 50)
    layer = layer_of(family, w, weights, 4)
    expected = [weights @ family.psi(x, w) for x in X]
    np.testing.assert_allclose(layer.evaluate(X), expected, rtol=0, atol=1e-9)
    assert layer.terms(X).shape == (3, 50)
    np.testing.assert_allclose(layer.terms(X).sum(axis=1), layer.evaluate(X))


def test_by_hand():
    """Two rectified units, whose input is at most of length 1 / sqrt(2) with a radius."""
    layer = FiniteLayer(
        activation="relu",
        radius=None,
        omega=np.array([[1.0, 0.0], [0.0, -2.0]]),
        b=np.array([0.5, 0.0]),
        weights=np.array([2.0, 3.0]),
    )
    z = np.array([[3.0, -4.0], [-9.0, 4.0]])
    assert layer.terms(z).tolist() == [[7.0, 24.0], [0.0, 0.0]]
    assert layer.evaluate(z).tolist() == [31.0, 0.0]
    assert layer.evaluate(np.empty((0, 2))).shape == (0,)
    in_ball = replace(layer, radius=5.0).terms(z)[0]
    assert in_ball == pytest.approx([2 * (0.6 / math.sqrt(2) + 0.5), 3 * 1.6 / math.sqrt(2)])


def test_error_is_that_of_a_sum_of_independent_terms():
    """sqrt(R) times the deviation of a point's terms; over points the root mean square."""
    family = GaussianFourier()
    w = family.draw(40, 2, np.random.default_rng(0))
    layer = layer_of(family, w, np.ones(40), 2)
    z = np.array([[0.3, -1.0], [2.0, 0.0]])
    each = [math.sqrt(40) * np.std(terms, ddof=1) for terms in layer.terms(z)]
    assert layer.error_at(z) == pytest.approx(math.sqrt(np.mean(np.square(each))))
    assert layer.error_at(z[:1]) == pytest.approx(each[0])
    assert layer.error_at(np.empty((0, 2))) == 0.0
