import math
import pickle

import numpy as np
import pytest

from iln_stream.features import (
    ArcCosine,
    DecisionStumps,
    Erf,
    GaussianFourier,
    LaplacianFourier,
    Mixture,
    Sigmoid,
    Tanh,
)
from iln_stream.kernels.activations import CODES
from iln_stream.learners.estimators.sampled import LawOfColumns, compilable, ridge_law, unit


@pytest.mark.parametrize("family", [GaussianFourier(0.3), Erf(), Tanh(0.5, 3.0), Sigmoid()])
@pytest.mark.parametrize("d", [1, 4])
def test_the_law_is_the_familys(family, d):
    """scale and bias are those of the family's own draws, in turns for cosines (5 s.e.)."""
    law = ridge_law(family, d)
    w = family.draw(100_000, d, np.random.default_rng(0))
    omega, b = w.omega.ravel() / unit(family), w.b / unit(family)
    relative = 5 / math.sqrt(2 * len(omega))
    assert omega.std() == pytest.approx(law.scale, rel=relative)
    if law.normal_bias:
        assert b.std() == pytest.approx(law.bias, rel=5 / math.sqrt(2 * len(b)))
    else:
        assert b.max() == pytest.approx(law.bias, rel=1e-3)
        assert 0.0 <= b.min() < 1e-3 * law.bias
    assert law.activation == CODES[family.activation]


def test_cosines_are_in_turns():
    """A cosine's phase is uniform over one turn, and gamma = 1/d gives omega's deviation."""
    law = ridge_law(GaussianFourier(), 2)
    assert (law.bias, law.normal_bias) == (1.0, False)
    assert law.scale == pytest.approx(1.0 / (2 * math.pi))
    assert unit(Erf()) == 1.0


class Doubled(GaussianFourier):
    """Gaussian ridges of 2 x, not of x."""

    def inputs(self, x):
        return 2.0 * x


@pytest.mark.parametrize(
    "family",
    [
        LaplacianFourier(),
        ArcCosine(),
        DecisionStumps(),
        Mixture.of_bandwidths((0.1, 1.0)),
        Doubled(),
    ],
    ids=lambda family: type(family).__name__,
)
def test_other_families_are_not_compiled(family):
    """Only Gaussian ridges of x itself are drawn by compiled code."""
    assert compilable(family) is None
    assert compilable(GaussianFourier()) == GaussianFourier()


def test_the_law_follows_the_number_of_columns():
    """A law that depends on d is that of the columns asked for, in any order, in copies too."""
    law_of = LawOfColumns(GaussianFourier())
    for each in (law_of, pickle.loads(pickle.dumps(law_of))):
        for d in (3, 1, 1, 7, 3):
            assert each(d) == ridge_law(GaussianFourier(), d)
