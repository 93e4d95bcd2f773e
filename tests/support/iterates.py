"""Iterates of known content, and what they should return."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.features import Features, closed_form
from iln_stream.learners.estimators import DrawPolicy, Estimator, EstimatorContext, Policy

KEY = np.array([11, 12], dtype=np.uint64)


def context(
    family: Features[Any],
    m: int | None = 200,
    budget: int | None = None,
    policy: Policy = "oldest",
    key: NDArray[np.uint64] = KEY,
) -> EstimatorContext:
    """What a learner gives its estimator; m = None: draws enough for a variance of 0.01."""
    return EstimatorContext(family, DrawPolicy(m, 0.01, 1, 10**9), budget, policy, key)


def filled(
    estimator: Estimator, family: Features[Any], n: int = 30, d: int = 4, **parameters: Any
) -> tuple[Any, NDArray[np.float64]]:
    """An iterate with n points, and a point at which to evaluate it."""
    f = estimator.start(context(family, **parameters))
    rng = np.random.default_rng(0)
    for _ in range(n):
        f.append(rng.standard_normal(d), rng.standard_normal())
        f.shrink(0.9)
    x = rng.standard_normal(d)
    x.flags.writeable = False  # as a learner passes it: that code is compiled
    return f, x


def by_kernel(f: Any, family: Features[Any], x: NDArray[np.float64]) -> float:
    """f(x) from the support, by the family's kernel."""
    kernel = closed_form(family)
    assert kernel is not None
    return float(f.support.alpha @ kernel(f.support.rows(len(x)), x))


def squared_norm(f: Any, family: Features[Any]) -> float:
    """||f||^2 from the support, by the family's kernel."""
    kernel = closed_form(family)
    assert kernel is not None
    rows, alpha = f.support.rows(f.support.width), f.support.alpha
    return float(sum(a * (alpha @ kernel(rows, x)) for x, a in zip(rows, alpha, strict=True)))
