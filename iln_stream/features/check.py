"""Check that a family satisfies the contract of `Features`, before a stream relies on it."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any, NoReturn

import numpy as np

from iln_stream.errors import IlnError
from iln_stream.features.base import LARGEST_INPUT, Array, Features, closed_form

_BATCHES = 50
_DRAWS = 400  # in each batch
_MODERATE = 7  # of the points tried, the first ones are of size 1 to 1e3
_DELTA = 1e-9  # chance that one sampled value rejects a sound family


class FeaturesError(IlnError, ValueError):
    """A family breaks the contract of `Features`; the message says where, and the remedy."""


def check_features(family: Features[Any], d: int = 5, seed: int = 0) -> None:
    """Reject a family that breaks the contract of `Features`; return None if all is well.

    Checks shapes, bounds and finiteness at points of all sizes up to `LARGEST_INPUT`, both forms of
    x, that draws depend only on the rng, and `q` and `kernel` (if there is one) against 20,000
    draws; all this for d columns and for none. The tolerance for sampled values is an empirical
    Bernstein bound [1]_, so a sound family is rejected with probability below 1e-6. Errors within
    the tolerance pass, and so may a psi that is out of bounds only at points not tried.

    Parameters
    ----------
    family
        The family.
    d
        Number of columns to try, at least 0.
    seed
        Seeds the points and draws.

    Raises
    ------
    FeaturesError
        If the contract is broken; the message says where, and gives the remedy.

    References
    ----------
    .. [1] A. Maurer, M. Pontil. Empirical Bernstein Bounds and Sample Variance Penalization. COLT
       2009.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.features import GaussianFourier, check_features
    >>> class Scaled(GaussianFourier):
    ...     def psi(self, x, w):
    ...         return np.sqrt(2) * super().psi(x, w)
    >>> check_features(Scaled())
    Traceback (most recent call last):
    ...
    iln_stream.features.check.FeaturesError: Scaled: psi reaches 1.41, beyond [-1, 1]; divide it \
by its bound, or clip it

    """
    if isinstance(family, type):
        _refuse(family, "it is a class; give an instance of it")
    if not isinstance(family, Features):
        missing = [name for name in ("q", "draw", "psi") if not hasattr(family, name)]
        _refuse(
            family,
            f"it lacks {', '.join(missing)}; a family has q (1.0 always holds), draw and psi",
        )
    q = family.q
    if not (isinstance(q, Real) and 0.0 < q <= 1.0):
        _refuse(family, f"q is {q!r}, not a number in (0, 1]; 1.0 always holds")
    for columns in (d, 0):
        rng = np.random.default_rng(seed)
        points = _points(columns, rng)
        _check_randomness(family, points, seed)
        # At the largest points rounding shifts a cosine's phase by whole turns: there the two forms
        # of x, and the kernel, may disagree.
        moderate = points[:_MODERATE]
        _check_forms(family, moderate, rng)
        batches = [_draw(family, _DRAWS, columns, rng) for _ in range(_BATCHES)]
        psi = np.array([[_psi(family, x, w, _DRAWS) for x in points] for w in batches])
        _check_independence(family, psi)
        pooled = np.concatenate(psi, axis=1)
        _check_q(family, pooled)
        _check_kernel(family, moderate, pooled[:_MODERATE])


def _points(d: int, rng: np.random.Generator) -> Array:
    """Points of all sizes, shape (9, d); those after `_MODERATE` are as large as inputs get."""
    normal = rng.standard_normal((3, d))
    ones = np.ones((1, d))
    return np.concatenate(
        [0 * ones, ones, -ones, normal, 1e3 * normal[:1], LARGEST_INPUT * np.sign(normal[:2])]
    )


def _check_forms(family: Features[Any], points: Array, rng: np.random.Generator) -> None:
    """Compare the k-th point under the k-th draw with that point under all draws."""
    d = points.shape[1]
    for n in (1, max(d, 1), 40):  # n = d: a transposed w would have the right shape
        w = _draw(family, n, d, rng)
        X = points[np.arange(n) % len(points)]
        alone = np.array([_psi(family, x, w, n)[k] for k, x in enumerate(X)])
        if not np.allclose(_psi(family, X, w, n), alone, rtol=0.0, atol=1e-6):
            _refuse(
                family,
                "psi(X, w)[k] differs from psi(X[k], w)[k]; for X of shape (n, d) put the k-th "
                "point under the k-th draw, as np.vecdot(w, X) does",
            )


def _check_randomness(family: Features[Any], points: Array, seed: int) -> None:
    """Check that draws depend only on the rng, and psi only on x and w."""
    d = points.shape[1]
    first, second = (_draw(family, _DRAWS, d, np.random.default_rng(seed)) for _ in range(2))
    for x in points:
        psi = _psi(family, x, first, _DRAWS)
        if not np.array_equal(psi, _psi(family, x, first, _DRAWS)):
            _refuse(family, "psi(x, w) changes from call to call; draw all randomness in draw")
        if not np.array_equal(psi, _psi(family, x, second, _DRAWS)):
            _refuse(
                family,
                "draws differ although the rng is the same; take randomness from the rng given "
                "to draw, not from np.random or a generator of your own",
            )


def _check_independence(family: Features[Any], psi: Array) -> None:
    """Check that draws are fresh and independent. psi: (batches, points, draws)."""
    if np.all(psi == psi[0]) and np.ptp(psi[0], axis=1).any():
        _refuse(family, "every call of draw returns the same draws; use the rng it is given")
    # For independent draws this ratio is about 1; anything shared by a batch multiplies it by up to
    # the batch's size.
    between = _DRAWS * psi.mean(axis=2).var(axis=0, ddof=1)
    if np.any(between > 10.0 * psi.var(axis=(0, 2)) + 1e-12):
        _refuse(
            family,
            "the n draws of one call depend on each other; draw every part of w n times "
            "(size=n), with no part shared",
        )


def _check_q(family: Features[Any], psi: Array) -> None:
    """Compare `q` with means over draws. psi: (points, draws)."""
    mean, room = _mean_products(psi**2, span=1.0)
    if (mean - room).max() > family.q:
        _refuse(
            family,
            f"q is {family.q:.3g}, but E[psi(x)^2 psi(x')^2] reaches {mean.max():.3g}; raise q",
        )


def _check_kernel(family: Features[Any], points: Array, psi: Array) -> None:
    """Compare the kernel, where there is one, with means over draws. psi: (points, draws)."""
    kernel = closed_form(family)
    if kernel is None:
        return
    mean, room = _mean_products(psi, span=2.0)
    for i, x in enumerate(points):
        with _blaming(family, f"kernel for d = {len(x)}", "serve every d >= 0"):
            k = np.asarray(kernel(points, x))
        if k.shape != (len(points),):
            _refuse(family, f"kernel returns shape {k.shape} for {len(points)} rows; return (n,)")
        for ours, sampled, allowed in zip(k, mean[i], room[i], strict=True):
            if not abs(ours - sampled) <= allowed:  # so that nan is rejected
                _refuse(
                    family,
                    f"kernel gives {ours:.3g} where the mean over draws is {sampled:.3g}; "
                    "correct it, or leave it out",
                )


def _mean_products(values: Array, span: float) -> tuple[Array, Array]:
    """Mean products of every two rows, and bounds on their distance from the expectations.

    Products lie in an interval of length `span`; each mean exceeds its bound with probability at
    most `_DELTA` on either side.
    """
    n = values.shape[1]
    mean = values @ values.T / n
    variance = np.maximum(values**2 @ (values**2).T / n - mean**2, 0.0)
    log = math.log(2.0 / _DELTA)
    return mean, np.sqrt(2.0 * variance * log / n) + 7.0 * span * log / (3.0 * (n - 1))


def _draw(family: Features[Any], n: int, d: int, rng: np.random.Generator) -> Any:
    with _blaming(family, f"draw({n}, {d}, rng)", "serve every n >= 1 and d >= 0"):
        return family.draw(n, d, rng)


def _psi(family: Features[Any], x: Array, w: Any, n: int) -> Array:
    """Return psi(x, w) after checking its shape, type and bounds."""
    given = x.copy()
    with _blaming(family, f"psi on x of shape {x.shape}", "take x as (d,) and (n, d), d = 0 too"):
        psi = family.psi(given, w)
    if not np.array_equal(given, x):
        _refuse(family, "psi writes into x; work on a copy")
    shape, dtype = np.shape(psi), getattr(psi, "dtype", None)
    if shape != (n,) or dtype != np.float64:
        _refuse(
            family,
            f"psi returns shape {shape} and dtype {dtype} for n = {n} draws and x of shape "
            f"{x.shape}; return a float64 array of shape (n,)",
        )
    if not np.isfinite(psi).all():
        size = np.abs(x).max(initial=0.0)
        _refuse(
            family,
            f"psi is not finite for |x| = {size:.3g}; keep it so up to {LARGEST_INPUT:g}, for "
            "example by clipping x",
        )
    largest = np.abs(psi).max()
    if largest > 1.0 + 1e-9:  # with room for rounding
        _refuse(
            family, f"psi reaches {largest:.3g}, beyond [-1, 1]; divide it by its bound, or clip it"
        )
    return psi


@contextmanager
def _blaming(family: object, call: str, remedy: str) -> Iterator[None]:
    """Report any exception raised inside as the family's error."""
    try:
        yield
    except Exception as error:
        _refuse(family, f"{call} fails: {error!r}; {remedy}", error)


def _refuse(family: object, reason: str, cause: Exception | None = None) -> NoReturn:
    name = family.__name__ if isinstance(family, type) else type(family).__name__
    raise FeaturesError(f"{name}: {reason}") from cause
