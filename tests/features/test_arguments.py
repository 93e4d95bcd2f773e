"""Constructor arguments: invalid ones are rejected by name, valid ones stored in plain form."""

import math

import numpy as np
import pytest

from iln_stream.features import (
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
)

POSITIVE_FIELDS = [
    (GaussianFourier, "gamma"),
    (LaplacianFourier, "gamma"),
    (CauchyFourier, "gamma"),
    (ArcCosine, "radius"),
    *((family, field) for family in (Erf, Tanh, Sigmoid) for field in ("slope", "bias")),
    (DecisionStumps, "span"),
    (RandomNetwork, "scale"),
]
NO_POSITIVE = (0, -1.0, 1.1e30, math.inf, math.nan), "positive", ("1", True), "number"
NO_COUNT = (0, -3), "at least 1", (2.0, True), "integer"


@pytest.mark.parametrize(
    ("family", "field", "wrong"),
    [
        *((*each, NO_POSITIVE) for each in POSITIVE_FIELDS),
        *((RandomNetwork, field, NO_COUNT) for field in ("layers", "width")),
    ],
)
def test_what_is_no_positive_number_or_count_is_refused(family, field, wrong):
    """Zero, negative, infinite, nan and overflowing values, text from a settings file, flags, and
    a float where a count is wanted are rejected by the field's name."""
    values, wanted, others, kind = wrong
    for value in values:
        with pytest.raises(ValueError, match=f"^{field} is .*{wanted}"):
            family(**{field: value})
    for value in others:
        with pytest.raises(TypeError, match=f"^{field} is .*{kind}"):
            family(**{field: value})


@pytest.mark.parametrize(
    ("numpy_made", "plain"),
    [
        (GaussianFourier(gamma=np.float64(0.5)), "GaussianFourier(gamma=0.5)"),
        (ArcCosine(radius=np.int64(2)), "ArcCosine(radius=2.0)"),
        (
            RandomNetwork(layers=np.int64(1), width=np.int32(4), scale=1),
            "RandomNetwork(layers=1, width=4, scale=1.0)",
        ),
        (
            Mixture([DecisionStumps()], weights=np.array([2])),
            "Mixture(components=(DecisionStumps(span=3.0),), weights=(2.0,))",
        ),
    ],
    ids=["fourier", "arc-cosine", "network", "mixture"],
)
def test_numpy_values_become_plain(numpy_made, plain):
    """Values from a numpy grid leave no numpy in repr or hash."""
    assert repr(numpy_made) == plain
    hash(numpy_made)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (((),), ValueError, "^components is empty"),
        ((GaussianFourier(),), TypeError, "^components is GaussianFourier.*tuple"),
        (((GaussianFourier(), 0.5),), TypeError, r"^components\[1\] is 0.5.*family"),
        (((GaussianFourier,),), TypeError, r"^components\[0\] is <class.*family"),
        (((Erf(), Tanh()), (1.0,)), ValueError, "^weights has 1 entries for 2 components"),
        (((Erf(), Tanh()), (1.0, 0.0)), ValueError, r"^weights\[1\] is 0.0.*positive"),
        (((Erf(), Tanh()), ("1", 1.0)), TypeError, r"^weights\[0\] is '1'.*number"),
        (((Erf(), Tanh()), 0.5), TypeError, r"^weights is 0.5.*tuple"),
    ],
)
def test_what_is_no_mixture_is_refused(arguments, error, message):
    """A component that is no family, or a weight that is no positive number, is named by index."""
    with pytest.raises(error, match=message):
        Mixture(*arguments)
