"""Builds the learner that the settings name."""

import copy
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from inspect import isabstract, signature
from typing import Any, TypeAlias

from river import base

from iln_stream import features
from iln_stream.features import check_features
from iln_stream.learners import (
    ChangeOfTarget,
    InfiniteLayerClassifier,
    InfiniteLayerRegressor,
    Pool,
    ScaledTarget,
    ShrinkingGradient,
    WinsorisedScaler,
)
from iln_stream.paper import ReferenceShrinkingGradient
from iln_stream.prequential import Classification, Regression, Task
from iln_stream.service.by_key import with_keys
from iln_stream.service.challengers import (
    challengers_of,
    check_contest,
    contest_of,
    seed_of_challenger,
    settings_of_challenger,
)
from iln_stream.service.plugins import FEATURES, LEARNERS, load_plugin
from iln_stream.service.settings import Settings, SettingsError

BOUNDED: dict[str, Any] = {"budget": 1000, "step": 0.1, "variance": 0.005, "max_draws": 5000}
"""The service's defaults for Algorithm 1. They bound memory and time; and as the budget forgets old
points, the step does not decay: steps that do would stop learning what is forgotten."""


OF_SAMPLING = ("draws", "variance", "min_draws", "max_draws", "budget", "policy")
"""Options of `ShrinkingGradient` that a pool does not use."""


def shrinking_gradient(seed: int, **options: Any) -> ScaledTarget:
    """Return the paper's learner: Algorithm 1 behind online scaling of x and y."""
    defaults = dict(BOUNDED)
    if "horizon" in options:  # which determines the step
        del defaults["step"]
    return ScaledTarget(
        WinsorisedScaler() | ShrinkingGradient(**{**defaults, "seed": seed, **options})
    )


def pool(seed: int, size: int = 512, **options: Any) -> ScaledTarget:
    """Return Algorithm 1 on a pool of features, behind online scaling of x and y.

    Its step does not decay, so that it follows a drifting stream.
    """
    if unused := [name for name in OF_SAMPLING if name in options]:
        raise ValueError(
            f"{', '.join(unused)}: a pool draws nothing and keeps no events; remove it, or set "
            "learner = shrinking-gradient"
        )
    defaults = {} if "horizon" in options else {"step": 0.6}
    return ScaledTarget(
        WinsorisedScaler()
        | ShrinkingGradient(estimator=Pool(size), **{**defaults, "seed": seed, **options})
    )


def reference(seed: int, **options: Any) -> ScaledTarget:
    """Return the paper's algorithms as written there, behind online scaling: readable, slow."""
    return ScaledTarget(
        WinsorisedScaler() | ReferenceShrinkingGradient(**{"seed": seed, **options})
    )


Learner: TypeAlias = base.Regressor | base.Classifier

NAMED: dict[str, Callable[..., Learner]] = {
    "infinite-layer": InfiniteLayerRegressor,
    "infinite-layer-classifier": InfiniteLayerClassifier,
    "shrinking-gradient": shrinking_gradient,
    "pool": pool,
    "reference": reference,
}
"""Built-in learners by name; entry points add others."""


def build_learner(settings: Settings, seed: int | None = None) -> Any:
    """Return a new learner as `learner` names it, seeded by `seed` or else by the settings.

    With challengers, it is the contest of all.
    """
    seed = settings.seed if seed is None else seed
    check_contest(settings)
    learner = _build(settings, seed)
    if not settings.challengers:
        return learner
    others = {name: build_challenger(settings, name, seed) for name in challengers_of(settings)}
    return contest_of(settings, learner, others)


def build_challenger(settings: Settings, name: str, seed: int) -> Learner:
    """Return a new challenger of a learner that has this seed."""
    found = challengers_of(settings)[name]
    own = settings_of_challenger(settings, found)
    try:
        return _build(own, seed_of_challenger(settings, found, seed))
    except SettingsError as error:
        raise SettingsError(f"challengers: {name}: {error}") from error


def _build(settings: Settings, seed: int) -> Learner:
    learner = _named(settings, seed)
    if settings.forecast == "value":
        return learner
    if not settings.horizon or settings.target is None:
        raise SettingsError(
            "forecast: only a forecast learns a change: set horizon and target, or unset it"
        )
    if task_of(learner).name != "regression":
        raise SettingsError(
            f"forecast: {settings.learner} learns classes, which have no change; unset it"
        )
    return ChangeOfTarget(learner, settings.target)


def _named(settings: Settings, seed: int) -> Learner:
    try:
        options = _with_features(settings.learner_options)
        if settings.learner in NAMED:
            learner = NAMED[settings.learner](**{"seed": seed, **options})
        else:
            learner = _load_learner(settings.learner, options)
    except (TypeError, ValueError) as error:
        advice = _options(settings.learner, error)
        raise SettingsError(f"learner, learner_options: {error}{advice}") from error
    return with_keys(settings, learner)


_OPTIONS_OF = {
    "shrinking-gradient": ShrinkingGradient,
    "pool": ShrinkingGradient,
    "reference": ReferenceShrinkingGradient,
}
"""Learners whose options are those of a class that they contain."""


def _options(learner: str, error: Exception) -> str:
    """Return which options a built-in learner takes, if the error is that one is unknown."""
    found = re.search(r"unexpected keyword argument '(\w+)'", str(error))
    if found is None or learner not in NAMED:
        return ""
    names = [*signature(_OPTIONS_OF.get(learner, NAMED[learner])).parameters]
    if learner == "pool":
        names = ["size", *(name for name in names if name not in (*OF_SAMPLING, "estimator"))]
    close = get_close_matches(found[1], names, n=1)
    meant = f"did you mean {close[0]!r}? " if close else ""
    return f"; {meant}{learner} has the options {', '.join(names)}"


class PredictOnly:
    """Wraps a learner for the loop, and ignores `learn_one`."""

    def __init__(self, learner: Any) -> None:
        self.learner = learner

    def predict_one(self, x: Mapping[Any, float]) -> Any:
        """Return the learner's prediction."""
        return self.learner.predict_one(x)

    def predict_proba_one(self, x: Mapping[Any, float]) -> Any:
        """Return the learner's probabilities."""
        return self.learner.predict_proba_one(x)

    def learn_one(self, x: Mapping[Any, float], y: Any, w: float = 1.0) -> None:
        """Learn nothing."""

    def promote(self, name: str) -> None:
        """Promote nobody."""


def task_of(learner: Any) -> Task:
    """Return the task of a learner: classification or regression."""
    model = learner.learner if isinstance(learner, PredictOnly) else learner
    # River makes a pipeline an instance of its last step's class, so this works for pipelines.
    if not isinstance(model, base.Classifier):
        return Regression()
    return Classification(only_booleans=not model._multiclass)


def _load_learner(path: str, options: dict[str, Any]) -> Learner:
    found = load_plugin("learner", path, LEARNERS, NAMED)
    if not callable(found) and options:
        raise SettingsError(
            f"learner_options: {path} is an object, which takes none; name a class or a function"
        )
    # Copy the object: two partitions must not train the same one.
    model = found(**options) if callable(found) else copy.deepcopy(found)
    if not isinstance(model, base.Regressor | base.Classifier):
        raise SettingsError(
            f"learner = {path!r} is neither a River regressor nor a River classifier: "
            f"{type(model).__name__}"
        )
    return model


def _with_features(options: dict[str, Any]) -> dict[str, Any]:
    """Return learner options with a feature family in place of its name."""
    if not isinstance(path := options.get("features"), str):
        return options
    if path in (known := _families()):
        return {**options, "features": known[path]()}
    found = load_plugin("learner_options: features", path, FEATURES, known)
    family = found() if callable(found) else found
    check_features(family)
    return {**options, "features": family}


def _families() -> dict[str, Callable[[], features.Features[Any]]]:
    """Return our families that need no arguments, by name."""
    found = {name: getattr(features, name) for name in features.__all__}
    return {
        name: each
        for name, each in found.items()
        if isinstance(each, type) and hasattr(each, "psi") and _needs_nothing(each)
    }


def _needs_nothing(family: type) -> bool:
    """Whether a class is concrete and has defaults for all its arguments."""
    required = (each.default is each.empty for each in signature(family).parameters.values())
    return (
        not isabstract(family) and not getattr(family, "_is_protocol", False) and not any(required)
    )
