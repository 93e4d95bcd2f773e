"""`check_features` accepts sound families and reports what is wrong with others."""

import numpy as np
import pytest

from iln_stream.errors import IlnError
from iln_stream.features import FeaturesError, GaussianFourier, check_features


class Ridges:
    """A user's family in ten lines: psi(x; w) = tanh(w.x), w ~ N(0, I / d)."""

    q = 1.0

    def draw(self, n, d, rng):
        return rng.standard_normal((n, d)) / np.sqrt(max(d, 1))

    def psi(self, x, w):
        return np.tanh(np.vecdot(w, x))


class Rare(Ridges):
    """Units that are zero but for one draw in ten thousand."""

    def draw(self, n, d, rng):
        return (rng.random(n) < 1e-4).astype(float)

    def psi(self, x, w):
        return w


@pytest.mark.parametrize("family", [Ridges(), Rare()], ids=lambda f: type(f).__name__)
@pytest.mark.parametrize("d", [1, 40])
def test_sound_families_pass(family, d):
    """A plain user's family and one of rare events are accepted."""
    for seed in range(3):
        check_features(family, d=d, seed=seed)


class NoPsi:
    q = 1.0

    def draw(self, n, d, rng):
        return None


class BigQ(Ridges):
    q = 1.5


class NoQ(Ridges):
    q = 0.0


class LowQ(GaussianFourier):
    q = 0.35  # 3/8 is needed


class UnitNorm(GaussianFourier):
    """The usual sqrt(2) cos, to which Theorem 1 does not apply."""

    def psi(self, x, w):
        return np.sqrt(2.0) * super().psi(x, w)


class TooLargeFarAway(Ridges):
    def psi(self, x, w):
        return super().psi(x, w) * (1.0 + (np.abs(x).max(initial=0.0) > 1e12))


class NanFarAway(Ridges):
    def psi(self, x, w):
        z = np.vecdot(w, x)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.exp(z) / (1.0 + np.exp(z))


class Column(Ridges):
    def psi(self, x, w):
        return super().psi(x, w)[:, None]


class OnePointOnly(Ridges):
    def psi(self, x, w):
        return np.tanh(w @ x)


class WrongPairs(Ridges):
    """Puts every point under the draw of its neighbour."""

    def psi(self, x, w):
        return super().psi(x if x.ndim == 1 else np.roll(x, 1, axis=0), w)


class NeedsColumns(Ridges):
    def draw(self, n, d, rng):
        return rng.standard_normal((n, d)) * (1 / d)


class WritesIntoX(Ridges):
    def psi(self, x, w):
        np.clip(x, -0.5, 0.5, out=x)
        return super().psi(x, w)


class GlobalRandomness(Ridges):
    def draw(self, n, d, rng):
        return np.random.standard_normal((n, d))  # noqa: NPY002


class RandomPsi(Ridges):
    def psi(self, x, w):
        return super().psi(x, w) * np.random.default_rng().random()


class SameDrawsAlways(Ridges):
    def draw(self, n, d, rng):
        return np.random.default_rng(0).standard_normal((n, d))


class SharedPhase(GaussianFourier):
    def draw(self, n, d, rng):
        w = super().draw(n, d, rng)
        return w._replace(b=np.full(n, rng.uniform(0.0, 2.0 * np.pi)))


class WrongKernel(GaussianFourier):
    def kernel(self, X, x):
        return 2.0 * super().kernel(X, x)


class FailingKernel(GaussianFourier):
    def kernel(self, X, x):
        return super().kernel(X, x) * (len(x) / len(x))


@pytest.mark.parametrize(
    ("family", "reason"),
    [
        (NoPsi(), "lacks psi; a family has q"),
        (Ridges, "is a class; give an instance"),
        (BigQ(), r"q is 1\.5"),
        (NoQ(), r"q is 0\.0"),
        (LowQ(), r"q is 0\.35, but .* reaches 0\.3[78].*raise q"),
        (UnitNorm(), r"psi reaches 1\.41, beyond \[-1, 1\].*clip"),
        (TooLargeFarAway(), r"psi reaches 2, beyond"),
        (NanFarAway(), r"not finite for \|x\| = .*clipping x"),
        (Column(), r"psi returns shape \(\d+, 1\).*return a float64 array of shape \(n,\)"),
        (OnePointOnly(), r"psi on x of shape \(\d+, 5\) fails.*take x as"),
        (WrongPairs(), r"psi\(X, w\)\[k\] differs"),
        (NeedsColumns(), r"draw\(400, 0, rng\) fails: ZeroDivisionError.*d >= 0"),
        (WritesIntoX(), "writes into x"),
        (GlobalRandomness(), "rng is the same"),
        (RandomPsi(), "changes from call to call"),
        (SameDrawsAlways(), "same draws; use the rng"),
        (SharedPhase(), r"depend on each other.*size=n"),
        (WrongKernel(), "kernel gives 1 where the mean over draws is 0.5"),
        (FailingKernel(), "kernel for d = 0 fails: ZeroDivisionError"),
    ],
    ids=lambda value: (
        None if isinstance(value, str) else getattr(value, "__name__", type(value).__name__)
    ),
)
def test_broken_families_are_refused_with_the_reason(family, reason):
    """Each breach of the contract raises an error that names it, and the family."""
    name = family.__name__ if isinstance(family, type) else type(family).__name__
    with pytest.raises(FeaturesError, match=rf"^{name}: .*{reason}") as caught:
        check_features(family)
    assert isinstance(caught.value, IlnError)
