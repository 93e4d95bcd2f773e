"""Arguments of a learner's constructor as states: numbers, families, estimators."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from iln_stream import features
from iln_stream.errors import StateError
from iln_stream.learners.estimators import ESTIMATORS
from iln_stream.state import Registry, StateSchema

COMPONENTS = Registry()
"""The families and estimators that a state can store."""

for _component in (
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
    *ESTIMATORS.values(),
):
    COMPONENTS.add(_component)

_UNREGISTERED = StateSchema("not of iln_stream", 1)
"""Stored in place of a component that is not registered: only the name of its class."""


class _UnregisteredError(Exception):
    pass


def add_component(cls: type, name: str | None) -> None:
    """Let states store a family or estimator, by its class's name and fields.

    Raises
    ------
    TypeError
        When the class is not a dataclass whose constructor takes every field, or a class of another
        module has the name.

    """
    if not is_dataclass(cls) or not all(field.init for field in fields(cls)):
        raise TypeError(
            f"{cls.__name__} must be a dataclass whose constructor takes all its fields: a state "
            "stores the fields, and restores the object from them"
        )
    COMPONENTS.add(cls, name)


def unserializable_parameters(state: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the parameters that a learner's state does not store, each with its class's name."""
    if isinstance(state, list):
        for entry in state:
            yield from unserializable_parameters(entry)
    elif isinstance(state, dict):
        if state.get("class") == _UNREGISTERED.name:
            yield name, state["name"]
        for key, value in state.items():
            yield from unserializable_parameters(value, key)


def write_argument(argument: Any) -> Any:
    """Return an argument of a learner's constructor as an entry of a state.

    A family or estimator is stored as its class's name and its fields; one that is not registered
    (or has fields that are not), as its class's name only.
    """
    try:
        return _written(argument)
    except _UnregisteredError:
        return _UNREGISTERED.write(name=type(argument).__qualname__)


def read_argument(state: Any, parameter: str) -> Any:
    """Return the argument that `write_argument` stored.

    Raises
    ------
    StateError
        When the state does not store it, or it is of an unknown class or version.

    """
    if isinstance(state, dict) and state.get("class") == _UNREGISTERED.name:
        (name,) = _UNREGISTERED.read(state, "name")
        raise StateError(
            f"{parameter} was a {name}, which a state can't store, as it is neither iln_stream's "
            "nor @restorable (or has parts that are not): give it again, "
            f"{parameter}=..."
        )
    return _read(state, parameter)


def check_argument(state: Any, parameter: str, given: Any) -> None:
    """Raise if an argument is not the one that `write_argument` stored.

    Raises
    ------
    StateError
        When it is another one; of one that is not registered, only the class is compared.

    """
    if isinstance(state, dict) and state.get("class") == _UNREGISTERED.name:
        (name,) = _UNREGISTERED.read(state, "name")
        if type(given).__qualname__ != name:
            raise StateError(f"{parameter} = {given!r} was given, but the state is of a {name}")
    elif given != (stored := _read(state, parameter)):
        raise StateError(f"{parameter} = {given!r} was given, but the state has {stored!r}")


def _written(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_written(entry) for entry in value]
    if value is None or isinstance(value, int | float | str | np.number):
        return value
    if COMPONENTS.name_of(type(value)) is None:
        raise _UnregisteredError
    values = {field.name: _written(getattr(value, field.name)) for field in fields(value)}
    return _schema(type(value)).write(**values)


def _read(value: Any, parameter: str) -> Any:
    if isinstance(value, list):
        return tuple(_read(entry, parameter) for entry in value)
    if not isinstance(value, dict):
        return value
    name = value.get("class")
    if not isinstance(name, str) or name not in COMPONENTS:
        raise StateError(
            f"{parameter} is a {name!r} in the state, which this release doesn't know: if it is "
            "yours, mark its class @restorable and import it first"
        )
    cls: Any = COMPONENTS[name]
    values = _schema(cls).read(value, *(field.name for field in fields(cls)))
    return cls(*(_read(entry, parameter) for entry in values))


def _schema(cls: Any) -> StateSchema:
    """The schema of a component: its class may have a `state_version` and `migrations`."""
    return StateSchema(
        COMPONENTS.name_of(cls) or "",
        getattr(cls, "state_version", 1),
        getattr(cls, "migrations", {}),
    )
