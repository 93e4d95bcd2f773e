"""The reference, against what the paper says of it."""

import numpy as np
import pytest
from river import checks

from iln_stream.features import DecisionStumps
from iln_stream.research.paper.algorithms import Iterate, est_scalar_prod, shrinking_gradient_step
from iln_stream.research.paper.reference import ReferenceShrinkingGradient
from iln_stream.research.theory import plan

X = tuple(np.array([v]) for v in (-0.5, 0.2, 0.9))
F = Iterate((0.5, -1.0, 0.25), X)
FAMILY = DecisionStumps(span=2.0)


def estimate(m, seed):
    rng = np.random.default_rng(seed)
    return est_scalar_prod(
        F,
        np.array([0.4]),
        m,
        psi=lambda x, w: float(FAMILY.psi(x, w)[0]),
        draw=lambda: (rng.random(), FAMILY.draw(1, 1, rng)),
    )


def test_unbiased():
    """The mean of many estimates is <f, Phi(x)>, as the kernel gives it, within four standard
    errors: a false alarm in 16,000 seeds."""
    exact = np.array(F.alpha) @ FAMILY.kernel(np.array(X), np.array([0.4]))
    found = np.array([estimate(20, seed) for seed in range(400)])
    assert abs(found.mean() - exact) < 4 * found.std() / np.sqrt(len(found))


def test_nothing_learned():
    """f_1 = 0 has no draws to make."""
    assert est_scalar_prod(Iterate(), np.zeros(1), 5, lambda x, w: 1.0, lambda: (0.0, None)) == 0.0


@pytest.mark.parametrize(("E_t", "shrinks"), [(0.159, False), (0.16, True), (-0.16, True)])
def test_each_branch(E_t, shrinks):
    """|E| < 16 B appends +eta (y - E); |E| >= 16 B divides alpha by 4 and forgets x."""
    f = shrinking_gradient_step(F, np.array([1.0]), 1.0, E_t, eta=0.5, B=0.01)
    if shrinks:
        assert f == Iterate(tuple(a / 4 for a in F.alpha), X)
    else:
        assert f.alpha == (*F.alpha, 0.5 * (1.0 - E_t))
        assert f.x[-1] == 1.0


@pytest.mark.thorough
def test_river_contract():
    """It is a River regressor like any other."""
    checks.check_estimator(ReferenceShrinkingGradient(draws=4))


@pytest.mark.parametrize(
    "wrong", [{"draws": 0}, {"horizon": 0}, {"norm_bound": -1.0}, {"features": "cosines"}]
)
def test_wrong_arguments(wrong):
    """An argument outside its range is an error that names it, not a division by zero later."""
    (name,) = wrong
    with pytest.raises(ValueError, match=f"^{name} = "):
        ReferenceShrinkingGradient(**wrong)


def test_defaults_are_not_drowned_by_noise():
    """With the defaults, the noise to expect is below what was harmless in all cases measured."""
    model = ReferenceShrinkingGradient()
    assert plan(model.norm_bound, model.horizon, draws=model.draws).kappa < 0.75
