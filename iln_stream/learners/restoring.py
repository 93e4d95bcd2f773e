"""Whole models, pipelines included, from their states."""

from inspect import Parameter, signature
from typing import Any, TypeVar

from river import base, compose

from iln_stream.errors import StateError
from iln_stream.learners.parameters import make_known, register
from iln_stream.state import StateDict, StateSchema

_PIPELINE = StateSchema("Pipeline", 1)


C = TypeVar("C", bound=type)

_CLASSES: dict[str, Any] = {}


def restorable(cls: C) -> C:
    """Register a class by its name for `model_of`; a class decorator.

    A learner's class has `state(self) -> Tree`, the instance's complete state, sharing no memory
    with it, and `from_state(cls, state) -> Self`, which resumes from it bit for bit. A family of
    features or an estimator of your own is a dataclass, whose fields are numbers, strings, None,
    tuples, or such parts again.

    Raises
    ------
    TypeError
        When a class of another module already has that name, or a part is not such a dataclass.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from iln_stream import ShrinkingGradient
    >>> from iln_stream.learners import model_of, restorable, state_of
    >>> @restorable
    ... @dataclass(frozen=True)
    ... class Squashed:
    ...     slope: float = 1.0
    ...     q = 1.0
    ...
    ...     def draw(self, n, d, rng):
    ...         return rng.standard_normal((n, d))
    ...
    ...     def psi(self, x, w):
    ...         return np.tanh(self.slope * np.vecdot(w, x))
    >>> model_of(state_of(ShrinkingGradient(Squashed(2.0)))).features
    Squashed(slope=2.0)

    """
    if hasattr(cls, "from_state"):
        register(cls, _CLASSES)
    else:
        make_known(cls)
    return cls


def state_of(model: base.Estimator) -> StateDict:
    """Return the state of one of our models, or of a River pipeline of them.

    Raises
    ------
    StateError
        When the model, or a step of the pipeline, has no state that can be saved.

    Examples
    --------
    >>> from iln_stream import ScaledTarget, ShrinkingGradient, WinsorisedScaler
    >>> from iln_stream.learners import model_of, state_of
    >>> model = ScaledTarget(WinsorisedScaler() | ShrinkingGradient(seed=1))
    >>> for a in range(100):
    ...     model.learn_one({"a": a}, 2.0 * a)
    >>> copy = model_of(state_of(model))
    >>> copy.predict_one({"a": 50}) == model.predict_one({"a": 50})
    True

    """
    # By type, not isinstance: River makes a pipeline an instance of its last step's class.
    if type(model) is compose.Pipeline:
        return _PIPELINE.write(
            names=list(model.steps), steps=[state_of(step) for step in model.steps.values()]
        )
    if _CLASSES.get(type(model).__name__) is not type(model):
        raise StateError(
            f"{type(model).__name__} has no state that can be saved; these have: "
            f"{', '.join(_CLASSES)}, and pipelines of them"
        )
    return model.state()  # type: ignore[no-any-return]


def model_of(state: StateDict, **own: Any) -> base.Estimator:
    """Return the model that has this state.

    Parameters
    ----------
    state
        From `state_of`.
    own
        Parts that the state can't store because they are not ours: the `features` or `estimator`
        given to `ShrinkingGradient`.

    Raises
    ------
    StateError
        When the state is of an unknown class, of another version, or damaged.

    """
    name = state.get("class")
    if name == _PIPELINE.name:
        names, steps = _PIPELINE.read(state, "names", "steps")
        made = [model_of(step, **own) for step in steps]
        return compose.Pipeline(*zip(names, made, strict=True))
    if name not in _CLASSES:
        raise StateError(f"this is the state of {name!r}, which is none of {', '.join(_CLASSES)}")
    cls = _CLASSES[name]
    takes = signature(cls.from_state).parameters
    open_ended = any(p.kind is Parameter.VAR_KEYWORD for p in takes.values())
    return cls.from_state(state, **{k: v for k, v in own.items() if open_ended or k in takes})
