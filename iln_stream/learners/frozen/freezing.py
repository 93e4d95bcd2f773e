"""Freezing a learning model: a network of fixed units, or a predictor in NumPy."""

import math
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from river import base, compose

from iln_stream.features import LARGEST_INPUT
from iln_stream.learners.frozen.network import FrozenNetwork
from iln_stream.learners.frozen.predictors import FrozenClassifier, FrozenRegressor
from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.hashed_categories import OTHERS
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler
from iln_stream.learners.shrinking_gradient import ShrinkingGradient


def freeze(
    model: base.Regressor,
    size: int | None = None,
    *,
    seed: int = 0,
    average: bool = False,
    points: Iterable[Mapping[Any, float]] | None = None,
) -> FrozenNetwork:
    """Return a model's current function as a network of R hidden units, without its support.

    f(x) = sum_i alpha_i E_w[psi(x_i; w) psi(x; w)] becomes sum_r weights_r psi(x; w_r) with fresh
    w_1..w_R ~ mu and weights_r = sum_i alpha_i psi(x_i; w_r) / R: unbiased given f, with a reported
    standard error that falls like 1 / sqrt(R). A pool is frozen as it is. The statistics of a
    scaler are frozen too, while the scaler itself includes an event's own inputs in its statistics
    before it scales them; after a few hundred events the difference is negligible.

    Parameters
    ----------
    model
        A `ShrinkingGradient`, alone or behind a `WinsorisedScaler`, within a `ScaledTarget` or not.
    size
        R. None: 1024; for a pool its own size, the only size allowed.
    seed
        Seeds the units.
    average
        Freeze Corollary 1's average of all f_t, which `estimator="averaged"` keeps, instead of f.
    points
        Raw inputs at which to estimate the standard error. None: the last 100 support points.

    Raises
    ------
    ValueError
        When the model is of another kind, has learned nothing yet, or its family's units are not
        ridges.

    Examples
    --------
    >>> import math
    >>> from iln_stream import ScaledTarget, ShrinkingGradient, WinsorisedScaler, freeze
    >>> model = ScaledTarget(WinsorisedScaler() | ShrinkingGradient(seed=1))
    >>> for t in range(500):
    ...     model.learn_one({"a": math.sin(t)}, 10 + 3 * math.sin(t))
    >>> network = freeze(model, size=4096)
    >>> network.omega.shape, network.names
    ((4096, 1), ('a',))
    >>> round(network.predict_one({"a": 0.5}), 1), round(network.standard_error, 2)
    (11.9, 0.05)

    """
    parts = _taken_apart(model)
    learner = parts.learner
    if learner.n_seen == 0:
        raise ValueError("the model has learned nothing yet: let it learn before it is frozen")
    layer, at = learner.finite_layer(size, seed=seed, average=average)
    names = learner.input_names
    centre, deviation, clip = _standardisation(parts.scaler, names)
    offset, gain, bound = 0.0, 1.0, math.inf
    if parts.target is not None:
        moments = parts.target.moments
        offset, gain, bound = moments.mean, parts.target.width * moments.sd, 1.0
    network = FrozenNetwork(
        names=names,
        centre=centre,
        deviation=deviation,
        clip=clip,
        offset=offset,
        gain=gain,
        bound=bound,
        standard_error=0.0,
        **vars(layer),
    )
    if at is None:
        return network
    if points is not None:
        rows = [[x.get(name, math.nan) for name in names] for x in points]
        at = network.scaled(np.array(rows, np.float64).reshape(len(rows), len(names)))
    return replace(network, standard_error=gain * layer.error_at(at))


class _Parts(NamedTuple):
    target: ScaledTarget | None
    scaler: WinsorisedScaler | None
    learner: ShrinkingGradient


def _taken_apart(model: base.Regressor) -> _Parts:
    target = scaler = None
    # By type, not isinstance: River makes a pipeline an instance of its last step's class.
    if type(model) is ScaledTarget:
        target, model = model, model.regressor
    if type(model) is compose.Pipeline:
        *before, model = model.steps.values()
        if [type(step) for step in before] == [WinsorisedScaler]:
            scaler = before[0]
        elif before:
            model = before[0]  # a step that can't be frozen
    if type(model) is not ShrinkingGradient:
        raise ValueError(
            f"{type(model).__name__} can't be frozen: freeze takes a ShrinkingGradient, alone or "
            "behind a WinsorisedScaler, within a ScaledTarget or not; freeze_learner takes an "
            "InfiniteLayerRegressor or an InfiniteLayerClassifier"
        )
    return _Parts(target, scaler, model)


def _standardisation(
    scaler: WinsorisedScaler | None, names: tuple[Any, ...]
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Centre, deviation and clip."""
    if scaler is None:
        return np.zeros(len(names)), np.ones(len(names)), LARGEST_INPUT
    moments = [scaler.moments(name) for name in names]
    centre = np.array([m.mean for m in moments], np.float64)
    deviation = np.array([m.sd if m.sd > 0.0 else math.inf for m in moments], np.float64)
    return centre, deviation, min(scaler.clip, LARGEST_INPUT)


_NAMED = 5
"""Fields that an error names."""


def freeze_learner(
    model: InfiniteLayerRegressor | InfiniteLayerClassifier, card: Mapping[str, Any] | None = None
) -> FrozenRegressor | FrozenClassifier:
    """Return a learner as plain arrays, which predict as it does now without compiled code.

    Parameters
    ----------
    model
        An `InfiniteLayerRegressor` or an `InfiniteLayerClassifier`, of any profile.
    card
        The model card to keep with it.

    Raises
    ------
    ValueError
        When the model is of another kind, hashes categories, or has learned nothing yet.

    """
    if type(model) not in (InfiniteLayerRegressor, InfiniteLayerClassifier):
        raise ValueError(
            f"{type(model).__name__} can't be frozen: freeze_learner takes an "
            "InfiniteLayerRegressor or an InfiniteLayerClassifier; of a pipeline, its last step: "
            'model["InfiniteLayerRegressor"]'
        )
    with model._turn:
        engine: Any = model._engine
        if engine.n == 0:
            raise ValueError("the model has learned nothing yet: let it learn before it is frozen")
        if model._categories.effects is not None:
            raise ValueError(_of_hashed(model._categories.routing.fields))
        kept: dict[str, Any] = {
            "names": tuple(engine.inputs.columns.place),
            "parts": deepcopy(engine.frozen()),
            "card": dict(card or {}),
            "profile": model.profile,
        }
        if isinstance(model, InfiniteLayerClassifier):
            return FrozenClassifier(classes=tuple(engine.classes), **kept)
        return FrozenRegressor(**kept)


def _of_hashed(fields: Sequence[str]) -> str:
    """Return why a model with hashed categories of these fields is not frozen."""
    named = [field for field in fields if field != OTHERS]
    more = f" and {len(fields) - _NAMED} more" if len(fields) > _NAMED else ""
    return (
        f"the model hashes categories of {', '.join(named[:_NAMED])}{more}, and a frozen model has "
        "no table of their effects, so its predictions would be others: predict with the snapshot "
        "(iln-stream predict), or with a published version (publish); or leave these fields out "
        "(ignore) and learn again (iln-stream rebuild)"
    )
