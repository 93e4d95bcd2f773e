"""Letting learners do everything once, so that all their compiled functions are compiled.

It prints a line of JSON for each function: its name, and the seconds it took.
"""

import gc
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from iln_stream.kernels.jit import reporting
from iln_stream.kernels.program import bound
from iln_stream.learners.estimators import ESTIMATORS, Sampled
from iln_stream.learners.infinite_layer import (
    InfiniteLayerClassifier,
    InfiniteLayerRegressor,
    RandomFeatureRidge,
)
from iln_stream.learners.introspection import find_infinite_layer, find_shrinking_gradient
from iln_stream.learners.preprocessing import ScaledTarget, WinsorisedScaler
from iln_stream.learners.shrinking_gradient import ShrinkingGradient

_INPUTS = {"a": 0.5, "b": 0.5, "c": 1.0}
_EVENTS = 70
"""With the 64th event, candidates are trained on stored events for the first time."""


def _shrinking_gradients() -> Iterator[ShrinkingGradient | ScaledTarget]:
    for name in ESTIMATORS:
        yield ShrinkingGradient(estimator=name)
    yield ShrinkingGradient(estimator=Sampled("direct"))
    yield ShrinkingGradient(estimator=Sampled("two normals"))
    yield ShrinkingGradient(budget=8, policy="compress")
    yield ScaledTarget(WinsorisedScaler() | ShrinkingGradient())


PUBLIC: Mapping[str, Callable[[], Iterator[Any]]] = {
    "accurate": lambda: iter([InfiniteLayerRegressor()]),
    "fast": lambda: iter([InfiniteLayerRegressor("fast")]),
    "classifier": lambda: iter([InfiniteLayerClassifier()]),
    "random-feature-ridge": lambda: iter([RandomFeatureRidge()]),
    "shrinking-gradient": _shrinking_gradients,
}
"""Learners by the name of what they compile: all of one name use the same functions."""


N_FUNCTIONS = {"accurate": 34, "fast": 11, "classifier": 27, "shrinking-gradient": 14}
"""About how many functions each of them compiles, for people who wait."""


def public_name(learner: Any) -> str | None:
    """Return the name in `PUBLIC` of what a learner compiles; None if it is not one of ours."""
    if (found := find_infinite_layer(learner)) is not None:
        return found.profile
    if find_shrinking_gradient(learner) is not None:
        return "shrinking-gradient"
    if isinstance(learner, InfiniteLayerClassifier):
        return "classifier"
    return "random-feature-ridge" if isinstance(learner, RandomFeatureRidge) else None


PARTS: Mapping[str, tuple[str, ...]] = {
    "accurate": ("networks", "others"),
    "fast": ("learning", "others"),
    "classifier": ("networks", "others"),
}
"""Parts of about the same size, which two processes can compile at the same time."""


def exercise(name: str, part: str | None = None) -> None:
    """Let the learners of a name predict and learn a few events; or those experts of a part."""
    for learner in PUBLIC[name]():
        if name == "fast" and part is not None:
            _compile_fast(learner, part)
            return
        if name == "classifier" and part == "networks":
            _compile_class_networks(learner)
            return
        if part is not None:
            _keep(learner, part)
        if name == "accurate" and part == "networks":
            _compile_networks(learner)
            return
        for t in range(_EVENTS):
            _learn_event(learner, t)
        if getattr(learner, "learns_in_a_row", False):
            learner.learn_in_a_row([_INPUTS], [0.0])
        if hasattr(learner, "predict_token"):
            _, token = learner.predict_token(_INPUTS)  # of a label that comes after another one
            _learn_event(learner, _EVENTS)
            learner.learn_token(_INPUTS, token, 1)
        if name in PARTS:
            learner._engine.inputs.reinitialise(())  # as when it heals
        if part is None and isinstance(learner, InfiniteLayerRegressor):
            _ = learner.target_unit, learner.relevance, learner.drift  # as metrics do
        if part is None and name == "accurate":
            _compile_networks(learner)


def _compile_fast(learner: InfiniteLayerRegressor, part: str) -> None:
    """Compile the function that learns, or what it and predictions need."""
    from iln_stream.kernels.fast import EVENTS, forecasts_address

    engine: Any = learner._engine
    engine.predict(_INPUTS) if part == "others" else engine.compile_learning(_INPUTS)
    engine.record[EVENTS] = engine.intervals.record[0] = 2.0  # as if events had been learned
    if part == "learning":
        engine.intervals.around(0.0, 0.9)  # here, where what learns shares its functions
        engine.inputs.reinitialise(())
        return
    forecasts_address()
    engine._require_fresh(1)
    engine._learn_fresh(0.0, 0.0, 1.0, engine._described, engine._described, 1)


def _compile_networks(learner: InfiniteLayerRegressor) -> None:
    """Let only the experts predict and learn, and not what both processes would compile."""
    engine: Any = learner._engine
    engine._admit(_INPUTS)
    event, mixture = engine._event, engine.mixture
    event.take(engine.inputs.row(_INPUTS))
    for steps in mixture.predicting, mixture.learning:
        for step in bound(steps(event, engine._p)):
            step()
    mixture.learned(event)
    engine.networks.relevance(engine.moving.weights_of("networks"))  # as where ridges rest


def _compile_class_networks(learner: InfiniteLayerClassifier) -> None:
    """Let only the networks learn."""
    engine = learner._engine
    for t in range(_EVENTS):
        row = engine._admit(_input(t))
        engine.memory.put(engine._event.row, t % 3, 1.0)
        if t < 3:
            engine._add(t)
        event = engine._event
        engine.inputs.standardise(row, event.row, event.v)
        engine.networks.predict(event, engine._offsets, engine._experts[engine._networks_from :])
        engine.networks.learn(event, t % 3, engine._offsets)


class _Asleep:
    """Stands in for a classifier's networks, which another process compiles."""

    asleep, ring = True, SimpleNamespace(is_whole=True)

    def predict(self, *_: Any) -> None:
        """Do nothing."""

    add_class = learn = widen = predict


def _keep(learner: Any, part: str) -> None:
    """Leave out the experts that another process compiles."""
    engine = learner._engine
    if isinstance(learner, InfiniteLayerClassifier):
        engine.networks = _Asleep()
        return
    those = {*engine.moving.experts, "first-order", "neighbours"}
    engine.mixture.keep(lambda expert: (expert in those) == (part == "networks"))


def _input(t: int) -> dict[str, float]:
    return {"a": math.sin(t), "b": math.cos(3 * t), "c": float(t % 5)}


def _learn_event(learner: Any, t: int) -> None:
    x = _input(t)
    if isinstance(learner, InfiniteLayerClassifier):
        learner.predict_proba_one(x)
        learner.learn_one(x, t % 3)
        return
    learner.predict_one(x)
    if isinstance(learner, InfiniteLayerRegressor) and learner._engine.intervals is not None:
        learner.predict_interval(x)
    learner.learn_one(x, math.sin(2 * t))


def main(name: str, part: str | None = None) -> None:
    """Compile what the learners of a name need, or a part of it; see `warming`."""
    gc.set_threshold(100_000)  # numba makes millions of objects that stay: a tenth of the time
    with reporting(_print):
        exercise(name, part)
    os._exit(0)  # to free numba's objects takes half a second


def _print(function: str, seconds: float) -> None:
    print(json.dumps([function, round(seconds, 1)]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
