"""`closed_form`, the only access to kernels."""

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
    UniformCoordinates,
    closed_form,
)


@pytest.mark.parametrize(
    "family",
    [
        GaussianFourier(),
        LaplacianFourier(),
        CauchyFourier(),
        ArcCosine(),
        Erf(),
        DecisionStumps(),
        UniformCoordinates(),
        Mixture((GaussianFourier(), DecisionStumps())),
    ],
    ids=repr,
)
def test_kernel_is_found(family):
    """`closed_form` returns the family's own kernel, with one value for each row."""
    X = np.linspace(-1.0, 1.0, 6).reshape(3, 2)
    kernel = closed_form(family)
    assert kernel is not None
    np.testing.assert_array_equal(kernel(X, X[0]), family.kernel(X, X[0]))
    assert kernel(X, X[0]).shape == (3,)


@pytest.mark.parametrize(
    "family",
    [
        RandomNetwork(),
        Tanh(),
        Sigmoid(),
        Mixture((GaussianFourier(), RandomNetwork())),
        Mixture((GaussianFourier(), Mixture((RandomNetwork(),)))),
    ],
    ids=repr,
)
def test_no_kernel_is_made_up(family):
    """A family that can't integrate w out has no kernel, also inside a mixture."""
    assert closed_form(family) is None
