"""The contract of every family."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import iln_stream.features
from iln_stream.features import (
    LARGEST_INPUT,
    ArcCosine,
    CauchyFourier,
    DecisionStumps,
    Erf,
    GaussianFourier,
    LaplacianFourier,
    Mixture,
    RandomNetwork,
    Sigmoid,
    Tanh,
    UniformCoordinates,
    check_features,
    closed_form,
)

FAMILIES = [
    GaussianFourier(),
    GaussianFourier(gamma=50.0),
    LaplacianFourier(),
    LaplacianFourier(gamma=50.0),
    CauchyFourier(gamma=2.0),
    ArcCosine(),
    ArcCosine(radius=0.2),
    Erf(0.2, 3.0),
    Erf(slope=50.0, bias=0.1),
    Tanh(),
    Sigmoid(slope=50.0, bias=50.0),
    DecisionStumps(),
    DecisionStumps(span=0.1),
    UniformCoordinates(),
    RandomNetwork(),
    RandomNetwork(layers=1, width=3, scale=30.0),
    Mixture((RandomNetwork(), DecisionStumps()), weights=(1.0, 3.0)),
    Mixture((GaussianFourier(0.3), DecisionStumps(), UniformCoordinates()), (5.0, 3.0, 2.0)),
]
each_family = pytest.mark.parametrize("family", FAMILIES, ids=repr)

INPUTS = st.floats(-LARGEST_INPUT, LARGEST_INPUT)


def test_every_exported_family_is_tried_here():
    """A family that joins the package joins these tests."""
    exported = {
        name
        for name in iln_stream.features.__all__
        if hasattr(getattr(iln_stream.features, name), "__dataclass_fields__")
    }
    assert exported == {type(family).__name__ for family in FAMILIES}


@each_family
@pytest.mark.parametrize("d", [1, 5, 40])
def test_keeps_the_contract(family, d):
    """Our own families pass the check we offer to users, kernel and q included."""
    check_features(family, d=d, seed=d)


@each_family
@settings(max_examples=30, deadline=None)
@given(
    x=st.integers(0, 4).flatmap(lambda d: arrays(np.float64, d, elements=INPUTS)),
    n=st.integers(1, 50),
    seed=st.integers(0, 1000),
)
def test_psi_is_bounded_everywhere(family, x, n, seed):
    """|psi| <= 1, Theorem 1's condition, holds at any input that the learners accept."""
    w = family.draw(n, len(x), np.random.default_rng(seed))
    for points in (x, np.tile(x, (n, 1))):
        psi = family.psi(points, w)
        assert psi.shape == (n,)
        assert psi.dtype == np.float64
        assert np.all(np.abs(psi) <= 1.0)  # false for nan too


@each_family
def test_psi_varies_over_draws(family):
    """A family whose units all agree could not express anything."""
    x = np.random.default_rng(1).standard_normal(5)
    w = family.draw(1000, 5, np.random.default_rng(2))
    # ArcCosine has psi^2 of mean 1/12 at most; the others' spread is above 0.3.
    assert family.psi(x, w).std() > 0.1


@each_family
def test_repr_round_trips(family):
    """A family's repr, as logged or kept in a snapshot's header, makes the same family."""
    assert eval(repr(family), vars(iln_stream.features)) == family


X = np.array([[0.0, 0.0, 0.0], [0.3, -0.2, 0.1], [1.0, 1.0, -1.0], [-2.0, 0.5, 3.0], [90.0, 0, 0]])


@pytest.mark.parametrize("family", [f for f in FAMILIES if closed_form(f)], ids=repr)
def test_the_kernel_is_the_mean_of_draws(family):
    """The closed form is what Algorithm 2 samples, for near and far points.

    A comparison within 5 standard errors fails by chance once in 1.7 million seeds.
    """
    n = 100_000
    w = family.draw(n, 3, np.random.default_rng(7))
    for x, k in zip(X, closed_form(family)(X, X[2]), strict=True):
        products = family.psi(x, w) * family.psi(X[2], w)
        assert abs(products.mean() - k) <= 5 * products.std(ddof=1) / math.sqrt(n) + 1e-12


@pytest.mark.parametrize(
    "family",
    [RandomNetwork(), Tanh(), Sigmoid(), Mixture((Erf(), Mixture((RandomNetwork(),))))],
    ids=repr,
)
def test_no_kernel_is_made_up(family):
    """A family that can't integrate w out has no kernel, also inside a mixture."""
    assert closed_form(family) is None


@pytest.mark.parametrize(
    "family",
    [
        *(GaussianFourier(), LaplacianFourier(), CauchyFourier(), ArcCosine(), Erf(), Tanh()),
        *(Sigmoid(), DecisionStumps()),
        *(RandomNetwork(layers=1, width=8, scale=scale) for scale in (2.0, 1e6)),
    ],
    ids=repr,
)
def test_q_is_reached(family):
    """E[psi^4] comes within 1 % and its noise of q at a large input: q wastes no draws."""
    fourth = family.psi(np.array([1e9]), family.draw(100_000, 1, np.random.default_rng(0))) ** 4
    noise = 5 * fourth.std() / math.sqrt(len(fourth))
    assert 0.99 * family.q - noise <= fourth.mean() <= family.q + noise


@each_family
def test_copies_are_equal_and_draw_the_same(family):
    """Snapshots pickle families and draws, and River deep-copies; neither changes what is drawn."""
    x = np.linspace(-1.0, 1.0, 5)
    w = family.draw(20, 5, np.random.default_rng(3))
    for twin in (pickle.loads(pickle.dumps(family)), copy.deepcopy(family)):
        assert twin == family
        assert hash(twin) == hash(family)
        again = pickle.loads(pickle.dumps(twin.draw(20, 5, np.random.default_rng(3))))
        np.testing.assert_array_equal(family.psi(x, w), twin.psi(x, again))
