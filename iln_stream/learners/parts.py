"""The families and estimators that a learner was given, as states."""

from dataclasses import fields
from typing import Any

import numpy as np

from iln_stream import features
from iln_stream.errors import StateError
from iln_stream.learners.estimators import ESTIMATORS
from iln_stream.state import Form, Tree

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
_SOMEONES = Form("not of iln_stream", 1)


class _NotOursError(Exception):
    pass


def state_of_part(part: Any) -> Tree | str | None:
    """Return the state of a family or estimator: its class's name and its parameters.

    A name or None is its own state. Of what is not ours only the name of its class is told.
    """
    if part is None or isinstance(part, str):
        return part
    try:
        return _written(part)  # type: ignore[no-any-return]
    except _NotOursError:
        return _SOMEONES.write(name=type(part).__qualname__)


def part_of(state: Tree | str | None, parameter: str, own: Any = None) -> Any:
    """Return the family or estimator that has this state.

    Parameters
    ----------
    state
        Of `state_of_part`.
    parameter
        What the learner calls the part, for messages.
    own
        The part itself, if it is not ours.

    Raises
    ------
    StateError
        When the part is not ours and not given, or another than the given one.

    """
    if isinstance(state, dict) and state.get("class") == _SOMEONES.name:
        (name,) = _SOMEONES.read(state, "name")
        if own is None:
            raise StateError(
                f"{parameter} was a {name}, of which a state tells nothing as it is not "
                f"iln_stream's (or has parts that are not): give it again, {parameter}=..."
            )
        if type(own).__qualname__ != name:
            raise StateError(f"{parameter} = {own!r} was given, but the state is of a {name}")
        return own
    part = _read(state, parameter)
    if own is not None and own != part:
        raise StateError(f"{parameter} = {own!r} was given, but the state has {part!r}")
    return part


def _written(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_written(entry) for entry in value]
    if value is None or isinstance(value, int | float | str | np.number):
        return value
    if _OURS.get(type(value).__name__) is not type(value):
        raise _NotOursError
    parameters = {field.name: _written(getattr(value, field.name)) for field in fields(value)}
    return Form(type(value).__name__, _VERSION).write(**parameters)


def _read(value: Any, parameter: str) -> Any:
    if isinstance(value, list):
        return tuple(_read(entry, parameter) for entry in value)
    if not isinstance(value, dict):
        return value
    name = value.get("class")
    if name not in _OURS:
        raise StateError(f"{parameter} is a {name!r} in the state, which this release has not")
    names = [field.name for field in fields(_OURS[name])]
    values = Form(name, _VERSION).read(value, *names)
    return _OURS[name](*(_read(entry, parameter) for entry in values))
