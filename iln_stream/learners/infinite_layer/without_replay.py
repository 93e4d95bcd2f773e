"""Models to predict with, whose states leave out the events that networks replay to learn.

A ring of 65,536 events is most of the state of `InfiniteLayerRegressor`; its first copy takes tens
of milliseconds, and later ones share full blocks with it. A prediction needs the last two targets
of it; `relevance`, the last 256 events.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, NoReturn

import numpy as np
from river import base, compose

from iln_stream.kernels.replay_ring import N_LAGS
from iln_stream.learners.infinite_layer.base import EngineLearner
from iln_stream.learners.infinite_layer.experts.networks import ReplayRing
from iln_stream.learners.infinite_layer.part import Part
from iln_stream.learners.restoring import RestorableLearner, _built, _restore
from iln_stream.state import StateDict

RECENT = 512
"""Size of the rings that replace the learner's."""


@contextmanager
def replay_left_out(model: Any) -> Iterator[None]:
    """Let the states of a model, and of models inside it, have small rings of recent events.

    Only within the `with` block; no other thread can get a state of these learners meanwhile.

    Examples
    --------
    >>> from iln_stream import InfiniteLayerRegressor
    >>> from iln_stream.learners import state_of
    >>> from iln_stream.learners.infinite_layer.without_replay import (
    ...     model_to_predict,
    ...     replay_left_out,
    ... )
    >>> model = InfiniteLayerRegressor(seed=1)
    >>> for a in range(5):
    ...     model.learn_one({"a": a}, 2.0 * a)
    >>> with replay_left_out(model):
    ...     state = state_of(model)
    >>> model_to_predict(state).predict_one({"a": 2.5}) == model.predict_one({"a": 2.5})
    True

    """
    with ExitStack() as undo:
        for learner in _learners(model):
            undo.enter_context(learner._turn)
            for ring in _rings(learner._engine):
                _shadow(undo, ring, "state", partial(_recent, ring))
        yield


def model_to_predict(state: StateDict) -> base.Estimator:
    """Return the model of a state that was taken within `replay_left_out`.

    It predicts as the model did, bit for bit. One whose rings were left out refuses to learn.

    Raises
    ------
    StateError
        As of `model_of`.

    """
    model = _built(state, {})
    with ExitStack() as undo:
        for learner in _learners(model):
            rings = list(_rings(learner._engine))
            for ring in rings:
                ReplayRing.__init__(ring, RECENT)
            # It was just built, so the engine to restore need not be that of a clone.
            _shadow(undo, learner, "clone", lambda learner=learner: learner)
            if rings:
                learner.learn_one = learner.learn_many = _refuse
        _restore(model, state)
    return model


def _recent(ring: ReplayRing) -> dict[str, Any]:
    """Return the state of a ring of `RECENT` events that has stored what this ring has."""
    small, n = ReplayRing(RECENT), ring.n
    small.record = ring.record
    first = max(small._first, ring._first)
    kept = np.arange(first, n) % len(ring._targets)
    width = ring.n_columns - N_LAGS  # the ring has room for more
    events: dict[str, Any] = {"rows": ring._rows[kept, :width], "targets": ring._targets[kept]}
    if len(ring._delays):
        events["delays"] = ring._delays[kept]
    if len(ring._weights):
        events["weights"] = ring._weights[kept]
    return Part.state(ring) | {"events": [events]}


def _refuse(x: Any, y: Any, w: float = 1.0) -> NoReturn:
    raise TypeError(
        "this model only predicts: the past events that it would replay to learn were left out; "
        "learn with a model from a snapshot (iln_stream.load)"
    )


def _learners(model: Any) -> Iterator[EngineLearner]:
    """Yield a model, or those inside it, that consist of an engine."""
    # By type, not isinstance: River makes a pipeline an instance of its last step's class.
    if type(model) is compose.Pipeline:
        for step in model.steps.values():
            yield from _learners(step)
    elif isinstance(model, EngineLearner):
        yield model
    elif isinstance(model, RestorableLearner):
        for value in model._arguments().values():
            yield from _learners(value)


def _rings(part: Part) -> Iterator[ReplayRing]:
    """Yield the rings of a part and of all parts inside it."""
    seen: set[int] = set()
    waiting: list[Any] = [part]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list | tuple):
            waiting.extend(value)
        elif isinstance(value, Part) and id(value) not in seen:
            seen.add(id(value))
            if isinstance(value, ReplayRing):
                yield value
            else:
                waiting.extend(vars(value).values())


def _shadow(undo: ExitStack, owner: Any, name: str, function: Any) -> None:
    """Give an object a method of its own until `undo` closes."""
    setattr(owner, name, function)
    undo.callback(delattr, owner, name)
