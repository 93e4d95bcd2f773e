"""Models to freeze, and points at which to compare what becomes of them."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import base

from iln_stream.features import ArcCosine, Erf, GaussianFourier, LaplacianFourier, Sigmoid, Tanh
from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler
from iln_stream.learners.shrinking_gradient import ShrinkingGradient

FAMILIES = [GaussianFourier(), LaplacianFourier(), Erf(), Tanh(), Sigmoid(), ArcCosine()]
NAMES = ["temperature", "sky=clear", 3]


def learned(family: Any = None, wrapped: bool = True, estimator: str = "sampled") -> base.Regressor:
    """A model that has learned 60 events of three inputs."""
    learner = ShrinkingGradient(family, estimator, step=0.5, draws=50, seed=1)
    model = ScaledTarget(WinsorisedScaler() | learner) if wrapped else learner
    rng = np.random.default_rng(2)
    for _ in range(60):
        x = 30 * rng.normal(size=3)
        model.learn_one(dict(zip(NAMES, x, strict=True)), math.tanh(x[0] / 30))
    return model


def points(wrapped: bool = True) -> NDArray[np.float64]:
    """Some inputs are absent, some huge if a scaler clips them (no cosine has a phase there)."""
    rng = np.random.default_rng(1)
    X = 30 * rng.standard_normal((200, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    if wrapped:
        X[0] = 1e300, -1e300, 0.0
    return X
