import pytest
from support.iterates import by_kernel, context, filled

from iln_stream.features import ArcCosine, GaussianFourier, Mixture, RandomNetwork, Tanh
from iln_stream.learners.estimators import Exact


@pytest.mark.parametrize(
    "family", [GaussianFourier(0.3), ArcCosine(), Mixture.of_bandwidths((0.1, 2.0))], ids=repr
)
def test_it_is_the_kernel_expansion(family):
    """E is sum_i alpha_i k(x_i, x), without error or draws, at every event and accuracy."""
    f, x = filled(Exact(), family)
    expected = (pytest.approx(by_kernel(f, family, x)), 0.0, 0)
    assert f.estimate(x, 0) == f.estimate(x, 99) == expected
    assert f.estimate_within(x, 1e-9, 1e-9, 0) == expected


@pytest.mark.parametrize("family", [Tanh(), RandomNetwork(), Mixture((Tanh(),))], ids=repr)
def test_a_family_without_a_kernel_is_refused(family):
    """The error names the families that have a closed form."""
    with pytest.raises(ValueError, match=r"closed form, not .*GaussianFourier, Lap.*Mixture"):
        Exact().start(context(family))
