"""Learners, and pipelines of them, to states and back."""

import copy
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from inspect import signature
from threading import RLock
from typing import Any, ClassVar, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray
from river import base, compose

from iln_stream import features
from iln_stream.errors import StateError
from iln_stream.learners.estimators import ESTIMATORS
from iln_stream.state import (
    TRANSFORMERS,
    Migration,
    Registry,
    StateDict,
    StateSchema,
    not_finite,
    qualified_name,
)

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
    if _UNREGISTERED.is_of(state):
        (name,) = _UNREGISTERED.read(state, "name")
        raise StateError(
            f"{parameter} was a {name}, which a state can't store, as it is neither iln_stream's "
            f"nor @restorable (or has parts that are not): give it again, {parameter}=..."
        )
    return _read(state, parameter)


def check_argument(state: Any, parameter: str, given: Any) -> None:
    """Raise if an argument is not the one that `write_argument` stored.

    Raises
    ------
    StateError
        When it is another one; of one that is not registered, only the class is compared.

    """
    if _UNREGISTERED.is_of(state):
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


def random_key(seed: int | None) -> NDArray[np.uint64]:
    """Return the two words that seed all draws of a learner; None: from the system's entropy.

    Raises
    ------
    ValueError
        When the seed is no whole number of at least 0.

    """
    try:
        sequence = np.random.SeedSequence(seed)
    except (TypeError, ValueError):
        raise ValueError(
            f"seed = {seed!r} must be a whole number of at least 0, or None to draw one"
        ) from None
    return sequence.generate_state(2, np.uint64).astype(np.uint64)


LEARNERS = Registry()
"""The classes of learners that `model_of` can build."""

_COMPOSED: dict[Any, tuple[StateSchema, str]] = {
    compose.Pipeline: (StateSchema("river.compose.Pipeline", 1), "steps"),
    compose.TransformerUnion: (StateSchema("river.compose.TransformerUnion", 1), "transformers"),
}
"""River's classes of several parts, with the attribute that has them by name."""
_COMPOSED_NAMES = {schema.name: cls for cls, (schema, _) in _COMPOSED.items()}

C = TypeVar("C", bound=type)


class RestorableLearner(base.Estimator):
    """A learner with a state: the base of the classes that `restorable` registers.

    A state names the class, its version and the constructor's parameters. Its other fields hold
    what was learned: `state` passes them to `_write_state`, and `restore`, the one inverse, gets
    them from `_read_state`, so that a restored learner goes on bit for bit.

    Methods run one at a time, whatever threads call them: they hold the lock `_turn`. A served
    prediction, or a scrape of metrics, runs between two steps of the learning thread. It may
    overwrite the values that the last prediction kept for learning; learning then recomputes them,
    to the same bits. Copies, pickles and clones have locks of their own.

    Attributes
    ----------
    state_version
        Version of the class's state. Raise it with every change of the fields, of their meaning,
        or of the constructor's parameters.
    always_finite
        Whether a state with a number that is not finite is broken: it is neither restored nor saved
        in a snapshot.
    migrations
        By an older version, a function from a state of that version to one of the version after
        it: `state_version = 3` and `migrations: ClassVar = {2: from_version_2}`. The function gets
        the whole state, `parameters` included, and returns a new one; the version is set for it.

    Examples
    --------
    >>> from river import base
    >>> from iln_stream.learners import RestorableLearner, model_of, restorable, state_of
    >>> @restorable(name="example.Mean")
    ... class Mean(RestorableLearner, base.Regressor):
    ...     def __init__(self, start=0.0):
    ...         super().__init__()
    ...         self.start, self.n, self.mean = start, 0, start
    ...
    ...     def learn_one(self, x, y):
    ...         self.n += 1
    ...         self.mean += (y - self.mean) / self.n
    ...
    ...     def predict_one(self, x):
    ...         return self.mean
    ...
    ...     def state(self):
    ...         return self._write_state(n=self.n, mean=self.mean)
    ...
    ...     def restore(self, state):
    ...         self.n, self.mean = self._read_state(state, "n", "mean")
    >>> model = Mean(start=1.0)
    >>> model.learn_one({}, 3.0)
    >>> state_of(model)
    {'class': 'example.Mean', 'version': 1, 'parameters': {'start': 1.0}, 'n': 1, 'mean': 3.0}
    >>> model_of(state_of(model)).predict_one({})
    3.0

    """

    state_version: ClassVar[int] = 1
    always_finite: ClassVar[bool] = False
    migrations: ClassVar[Mapping[int, Migration]] = {}

    def __init__(self) -> None:
        # Reentrant: code called while the lock is held may query the learner again.
        self._turn = RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_turn"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # One by one, which interns the names as pickle does: equal learners pickle identically.
        for name, value in state.items():
            setattr(self, name, value)
        self._turn = RLock()

    def clone(
        self, new_params: dict[str, Any] | None = None, include_attributes: bool = False
    ) -> Self:
        """Return a new learner with the same parameters; with its attributes, a copy of this one.

        River would copy the attributes one by one, which then no longer belong together.

        Raises
        ------
        ValueError
            When attributes are to be kept under other parameters.

        """
        if not include_attributes:
            fresh: Self = super().clone(new_params)
            return fresh
        if new_params:
            raise ValueError(
                "new_params: what was learned belongs to the old ones; leave out include_attributes"
            )
        return copy.deepcopy(self)

    @abstractmethod
    def state(self) -> StateDict:
        """Return the complete state, which shares no memory with the learner."""

    @abstractmethod
    def restore(self, state: StateDict) -> None:
        """Go on from a state of a learner with the same parameters; forget what was learned.

        Raises
        ------
        StateError
            When the state is of another class, of a version that is not read, or of other
            parameters.

        """

    @classmethod
    def from_state(cls, state: StateDict, **own: Any) -> Self:
        """Return a learner that has this state; it goes on bit for bit.

        Parameters
        ----------
        state
            From `state`.
        own
            Arguments that the state can't store; see `model_of`.

        Raises
        ------
        StateError
            When the state is of another class or version, or lacks an argument that is not given.

        """
        model = cls._built_from(state, own)
        model.restore(state)
        return model

    @classmethod
    def _built_from(cls, state: StateDict, own: Mapping[str, Any]) -> Self:
        """Return a learner with a state's parameters that has learned nothing."""
        stored = cls._schema().migrated(state).get("parameters")
        names = signature(cls).parameters.keys()
        if not isinstance(stored, dict) or stored.keys() != names:
            odd = ", ".join(sorted(names ^ stored.keys())) if isinstance(stored, dict) else "all"
            raise StateError(f"the state lacks parameters of {cls.__name__}, or has others: {odd}")
        arguments = {}
        for name, value in stored.items():
            kind = _class_in(value)
            if kind in _COMPOSED_NAMES or kind in {*LEARNERS, *TRANSFORMERS}:
                arguments[name] = _built(value, own)
            else:
                arguments[name] = own[name] if name in own else read_argument(value, name)
                check_argument(value, name, arguments[name])
        return cls(**arguments)

    @classmethod
    def _schema(cls) -> StateSchema:
        name = LEARNERS.name_of(cls) or qualified_name(cls)
        return StateSchema(name, cls.state_version, cls.migrations)

    def _write_state(self, **fields: Any) -> StateDict:
        parameters = {
            name: state_of(value) if isinstance(value, base.Base) else write_argument(value)
            for name, value in self._arguments().items()
        }
        return self._schema().write(parameters=parameters, **fields)

    def _read_state(self, state: StateDict, *names: str) -> tuple[Any, ...]:
        """Return the named fields of a state with this learner's parameters.

        Models among the parameters are restored.

        Raises
        ------
        StateError
            As of `restore`; and when a number is not finite, although the learner's always are.

        """
        parameters, *values = self._schema().read(state, "parameters", *names)
        if self.always_finite:
            broken = not_finite(dict(zip(names, values, strict=True)))
            if broken:
                raise StateError(
                    f"the state of {type(self).__name__} has numbers that are not finite: "
                    f"{some_of(broken)}; use an earlier one"
                )
        for name, value in self._arguments().items():
            if isinstance(value, base.Base):
                _restore(value, parameters[name])
            else:
                check_argument(parameters[name], name, value)
        return tuple(values)

    def _arguments(self) -> dict[str, Any]:
        """The constructor's arguments, which River expects in attributes of the same names."""
        return {name: getattr(self, name) for name in signature(type(self)).parameters}


@overload
def restorable(cls: C) -> C: ...


@overload
def restorable(*, name: str) -> Callable[[C], C]: ...


def restorable(cls: Any = None, *, name: str | None = None) -> Any:
    """Register a class, so that states can name it; a class decorator.

    A learner's class derives from `RestorableLearner`. Your own family of features or estimator is
    a dataclass, whose fields are numbers, strings, None, tuples, or such components again;
    it may have a `state_version` and `migrations` like a learner.

    Parameters
    ----------
    cls
        The class.
    name
        The name that states store, which must never change. Left out: the class's module and name,
        so give one for a class of a script, whose module is `__main__`.

    Raises
    ------
    TypeError
        When a class of another module already has that name, or a component is not such a
        dataclass.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from iln_stream import ShrinkingGradient
    >>> from iln_stream.learners import model_of, restorable, state_of
    >>> @restorable(name="example.Squashed")
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

    def register(cls: C) -> C:
        if issubclass(cls, RestorableLearner):
            LEARNERS.add(cls, name)
        else:
            add_component(cls, name)
        return cls

    return register if cls is None else register(cls)


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
    if type(model) in _COMPOSED:
        schema, attribute = _COMPOSED[type(model)]
        parts = getattr(model, attribute)
        return schema.write(names=list(parts), steps=[state_of(each) for each in parts.values()])
    if LEARNERS.name_of(type(model)) is None and TRANSFORMERS.name_of(type(model)) is None:
        raise StateError(
            f"{type(model).__name__} has no state that can be saved; these have: "
            f"{', '.join(LEARNERS)}, and pipelines of them; of a pipeline with other steps, save "
            "only the last: iln_stream.save(list(model.steps.values())[-1], path)"
        )
    return model.state()  # type: ignore[no-any-return]


def broken_numbers(state: StateDict) -> list[str]:
    """Return the paths of numbers that are not finite, in the parts that always are.

    `state` is that of a model, as `state_of` returns it; see `RestorableLearner.always_finite`.
    """
    name = _class_in(state)
    if name in _COMPOSED_NAMES:
        return [path for step in state["steps"] for path in broken_numbers(step)]
    if name not in LEARNERS:
        return []
    inner = [each for each in state["parameters"].values() if isinstance(each, dict)]
    broken = [path for each in inner for path in broken_numbers(each)]
    cls: Any = LEARNERS[name]
    if cls.always_finite:
        fields = {key: value for key, value in state.items() if key != "parameters"}
        broken += [f"{cls.__name__}/{path}" for path in not_finite(fields)]
    return broken


def some_of(paths: list[str]) -> str:
    """Return the first paths as text."""
    return ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")


def model_of(state: StateDict, **own: Any) -> base.Estimator:
    """Return the model that has this state.

    Parameters
    ----------
    state
        From `state_of`.
    own
        Arguments that the state can't store because their classes are not registered: the
        `features` or `estimator` given to `ShrinkingGradient`.

    Raises
    ------
    StateError
        When the state is of an unknown class, of another version, or damaged.

    """
    model = _built(state, own)
    _restore(model, state)
    return model


def _built(state: StateDict, own: Mapping[str, Any]) -> base.Estimator:
    name = _class_in(state)
    if name in _COMPOSED_NAMES:
        composed = _COMPOSED_NAMES[name]
        names, steps = _COMPOSED[composed][0].read(state, "names", "steps")
        return composed(*zip(names, (_built(step, own) for step in steps), strict=True))
    package, _, ours = name.rpartition(".")
    if name not in LEARNERS and package == __name__.partition(".")[0]:  # it may not be imported
        getattr(import_module(package), ours, None)
    if (transformer := TRANSFORMERS.get(name)) is not None:
        return transformer.from_state(state)  # type: ignore[attr-defined]
    if name not in LEARNERS:
        raise StateError(f"this is the state of {name!r}, which is none of {', '.join(LEARNERS)}")
    cls: Any = LEARNERS[name]
    return cls._built_from(state, own)


def _restore(model: base.Estimator, state: StateDict) -> None:
    """Let a model with a state's parameters go on from it."""
    if type(model) in _COMPOSED:
        schema, attribute = _COMPOSED[type(model)]
        parts = getattr(model, attribute)
        names, steps = schema.read(state, "names", "steps")
        if names != list(parts):
            raise StateError(f"the state's pipeline has the steps {names}, not {list(parts)}")
        for step, each in zip(parts.values(), steps, strict=True):
            _restore(step, each)
    elif TRANSFORMERS.name_of(type(model)) is not None:
        vars(model).update(vars(_built(state, {})))
    elif isinstance(model, RestorableLearner):
        model.restore(state)
    else:
        raise StateError(f"{type(model).__name__} has no state that can be restored")


def _class_in(state: Any) -> str:
    """The name of the class of which this is the state; empty if there is none."""
    name = state.get("class") if isinstance(state, dict) else None
    return name if isinstance(name, str) else ""
