"""Whole models, pipelines included, from their states."""

from typing import Any, TypeVar

from river import base, compose

from iln_stream.errors import StateError
from iln_stream.state import Form, Tree

_PIPELINE = Form("Pipeline", 1)


C = TypeVar("C", bound=type)

_CLASSES: dict[str, Any] = {}


def restorable(cls: C) -> C:
    """Let `model_of` know a class by its name; a class decorator.

    The class has `state(self) -> Tree`, all that an instance is, sharing no memory with it, and
    `from_state(cls, state) -> Self`, which goes on from there bit for bit.
    """
    _CLASSES[cls.__name__] = cls
    return cls


def state_of(model: base.Estimator) -> Tree:
    """Return the state of a model of ours, or of a River pipeline of such.

    Raises
    ------
    StateError
        When the model, or a step of the pipeline, has no state to tell.

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
            f"{type(model).__name__} has no state that could be saved; these have: "
            f"{', '.join(_CLASSES)}, and pipelines of them"
        )
    return model.state()  # type: ignore[no-any-return]


def model_of(state: Tree, **own: Any) -> base.Estimator:
    """Return the model that has this state.

    Parameters
    ----------
    state
        Of `state_of`.
    own
        What the state can't tell since it is not ours: the `features` or `estimator` that
        `ShrinkingGradient` was given.

    Raises
    ------
    StateError
        When the state is of no class of ours, of another version, or damaged.

    """
    name = state.get("class")
    if name == _PIPELINE.name:
        names, steps = _PIPELINE.read(state, "names", "steps")
        made = [model_of(step, **own) for step in steps]
        return compose.Pipeline(*zip(names, made, strict=True))
    if name not in _CLASSES:
        raise StateError(f"this is the state of {name!r}, which is none of {', '.join(_CLASSES)}")
    cls = _CLASSES[name]
    # Transformers are given nothing that could be one's own.
    return cls.from_state(state, **(own if issubclass(cls, base.Regressor) else {}))
