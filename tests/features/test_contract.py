"""The contract of every family."""

import copy
import pickle
from dataclasses import FrozenInstanceError, fields

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
)

FAMILIES = [
    GaussianFourier(),
    GaussianFourier(gamma=50.0),
    LaplacianFourier(),
    LaplacianFourier(gamma=50.0),
    CauchyFourier(),
    CauchyFourier(gamma=50.0),
    ArcCosine(),
    ArcCosine(radius=0.1),
    Erf(),
    Erf(slope=50.0, bias=0.1),
    Tanh(),
    Tanh(slope=0.5, bias=3.0),
    Sigmoid(),
    Sigmoid(slope=50.0, bias=50.0),
    DecisionStumps(),
    DecisionStumps(span=0.1),
    UniformCoordinates(),
    RandomNetwork(),
    RandomNetwork(layers=1, width=3, scale=30.0),
    Mixture.of_bandwidths((0.1, 1.0, 10.0)),
    Mixture((RandomNetwork(), DecisionStumps()), weights=(1.0, 3.0)),
    Mixture((LaplacianFourier(), CauchyFourier(), ArcCosine(), Erf())),
    Mixture((Tanh(), Sigmoid(), GaussianFourier())),
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
@pytest.mark.parametrize("d", [0, 1, 5, 40])
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


@each_family
def test_copies_are_equal_and_draw_the_same(family):
    """Snapshots pickle and River deep-copies; neither may change what is drawn."""
    x = np.linspace(-1.0, 1.0, 5)
    for twin in (pickle.loads(pickle.dumps(family)), copy.deepcopy(family)):
        assert twin == family
        assert hash(twin) == hash(family)
        psi, psi_twin = (f.psi(x, f.draw(20, 5, np.random.default_rng(3))) for f in (family, twin))
        np.testing.assert_array_equal(psi, psi_twin)


@each_family
def test_draws_are_picklable(family):
    """Draws may be kept across events, and so may be part of a snapshot."""
    x = np.linspace(-1.0, 1.0, 5)
    w = family.draw(20, 5, np.random.default_rng(3))
    np.testing.assert_array_equal(family.psi(x, pickle.loads(pickle.dumps(w))), family.psi(x, w))


@pytest.mark.parametrize("family", [f for f in FAMILIES if fields(f)], ids=repr)
def test_families_are_frozen(family):
    """Changing a law under a running learner would silently break its estimates."""
    with pytest.raises(FrozenInstanceError):
        setattr(family, fields(family)[0].name, None)
