"""A learner's parameters, families and estimators included, as a state."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from inspect import signature
from typing import Any

import numpy as np
from river import base

from iln_stream import features
from iln_stream.errors import StateError
from iln_stream.learners.estimators import ESTIMATORS
from iln_stream.state import StateDict, StateSchema

FAMILIES = (
    features.ArcCosine,
    features.CauchyFourier,
    features.DecisionStumps,
    features.Erf,
    features.GaussianFourier,
    features.LaplacianFourier,
    features.Mixture,
    features.RandomNetwork,
    features.Sigmoid,
    features.Tanh,
    features.UniformCoordinates,
)

_OURS: dict[str, Any] = {cls.__name__: cls for cls in (*FAMILIES, *ESTIMATORS.values())}

_VERSION = 1
_SOMEONES = StateSchema("not of iln_stream", 1)


class _NotOursError(Exception):
    pass


def register(cls: Any, known: dict[str, Any]) -> None:
    """Register a class by its name; a class defined again replaces its earlier definition.

    Raises
    ------
    TypeError
        When a class of another module already has that name.

    """
    other = known.setdefault(cls.__name__, cls)
    if other.__module__ != cls.__module__:
        raise TypeError(f"{cls.__name__} is already the name of a class of {other.__module__}")
    known[cls.__name__] = cls


def make_known(cls: type) -> None:
    """Let states store a family or estimator that is not ours, by its class's name and fields.

    Raises
    ------
    TypeError
        When the class is not a dataclass whose constructor takes every field, or has the name of
        one of ours.

    """
    if not is_dataclass(cls) or not all(field.init for field in fields(cls)):
        raise TypeError(
            f"{cls.__name__} must be a dataclass whose constructor takes all its fields: a state "
            "stores the fields, and restores the object from them"
        )
    register(cls, _OURS)


def unserializable_parameters(state: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the parameters that a learner's state does not store, each with its class's name."""
    if isinstance(state, list):
        for entry in state:
            yield from unserializable_parameters(entry)
    elif isinstance(state, dict):
        if state.get("class") == _SOMEONES.name:
            yield name, state["name"]
        for key, value in state.items():
            yield from unserializable_parameters(value, key)


def state_of_parameters(model: base.Estimator) -> StateDict:
    """Return the arguments of a model's constructor, by name.

    A family or estimator is stored as its class's name and its parameters; if it is neither ours
    nor registered, as its class's name only.
    """
    return {name: _told(value) for name, value in model._get_params().items()}


def parameters_of(state: StateDict, cls: type, **own: Any) -> dict[str, Any]:
    """Return the arguments for the constructor of `cls` that have this state.

    Parameters
    ----------
    state
        From `state_of_parameters`.
    cls
        The model's class.
    own
        Arguments that are not ours, which the state can't store.

    Raises
    ------
    StateError
        When the class has other parameters, an argument is not ours and not given, or a given
        argument differs from the stored one.

    """
    names = signature(cls).parameters.keys()
    if state.keys() != names:
        odd = ", ".join(sorted(state.keys() ^ names))
        raise StateError(f"the state lacks parameters of {cls.__name__}, or has others: {odd}")
    return {name: _argument(value, name, own.get(name)) for name, value in state.items()}


def _told(argument: Any) -> Any:
    try:
        return _written(argument)
    except _NotOursError:
        return _SOMEONES.write(name=type(argument).__qualname__)


def _argument(state: Any, parameter: str, own: Any) -> Any:
    if isinstance(state, dict) and state.get("class") == _SOMEONES.name:
        (name,) = _SOMEONES.read(state, "name")
        if own is None:
            raise StateError(
                f"{parameter} was a {name}, which a state can't store, as it is neither "
                "iln_stream's nor @restorable (or has parts that are not): give it again, "
                f"{parameter}=..."
            )
        if type(own).__qualname__ != name:
            raise StateError(f"{parameter} = {own!r} was given, but the state is of a {name}")
        return own
    argument = _read(state, parameter)
    if own is not None and own != argument:
        raise StateError(f"{parameter} = {own!r} was given, but the state has {argument!r}")
    return argument


def _written(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_written(entry) for entry in value]
    if value is None or isinstance(value, int | float | str | np.number):
        return value
    if _OURS.get(type(value).__name__) is not type(value):
        raise _NotOursError
    parameters = {field.name: _written(getattr(value, field.name)) for field in fields(value)}
    return StateSchema(type(value).__name__, _VERSION).write(**parameters)


def _read(value: Any, parameter: str) -> Any:
    if isinstance(value, list):
        return tuple(_read(entry, parameter) for entry in value)
    if not isinstance(value, dict):
        return value
    name = value.get("class")
    if name not in _OURS:
        raise StateError(
            f"{parameter} is a {name!r} in the state, which this release doesn't know: if it is "
            "yours, mark its class @restorable and import it first"
        )
    names = [field.name for field in fields(_OURS[name])]
    values = StateSchema(name, _VERSION).read(value, *names)
    return _OURS[name](*(_read(entry, parameter) for entry in values))
