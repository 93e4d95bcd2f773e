"""What calls return, and how it is read from JSON."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

Class = bool | str
Value = TypeVar("Value")


class Interval(NamedTuple):
    """Where the label lies with probability `level`, in units of the label."""

    lower: float
    upper: float
    level: float


class ModelVersion(NamedTuple):
    """The published version that predicted.

    Parameters
    ----------
    name
        Name of the model.
    version
        Grows with each version, also over restarts of the learner.
    age_seconds
        Time since it was published.
    n_learned
        Number of events that it had learned; None if unknown.

    """

    name: str
    version: int
    age_seconds: float
    n_learned: int | None


class Appended(NamedTuple):
    """Where an event or a label is in the log.

    Parameters
    ----------
    partition, offset
        Its position.
    is_new
        False: the log already had an event with this id, or this label.

    """

    partition: int
    offset: int
    is_new: bool


class Prediction(NamedTuple):
    """A prediction.

    Parameters
    ----------
    y_pred
        The predicted number, or the most probable class; None before any class is known.
    model
        The version that predicted.
    interval
        Interval around a number, if the learner has intervals.
    probabilities
        Probabilities of the classes, by name; None for numbers.
    appended
        Where the event is in the log; None: it has no id, and was only predicted.

    """

    y_pred: float | Class | None
    model: ModelVersion
    interval: Interval | None = None
    probabilities: Mapping[str, float] | None = None
    appended: Appended | None = None


class Model(NamedTuple):
    """A published model.

    Parameters
    ----------
    version
        Its name, version and age.
    learner
        Name of the learner.
    task
        `regression` or `classification`.
    positions
        By partition of the log, the offset after the last learned record.
    published_at
        POSIX seconds.
    inputs
        Names of the learned inputs; None if unknown.

    """

    version: ModelVersion
    learner: str
    task: str
    positions: Mapping[int, int]
    published_at: float
    inputs: Sequence[str] | None


class Readiness(NamedTuple):
    """Whether the server carries out requests, and if not, why.

    Parameters
    ----------
    ready
        Whether a model is loaded and the log is open.
    reasons
        Why not; empty if ready.
    degraded
        Models that predict with a former version, as the server can't load the newest; empty for a
        server of an older release.

    """

    ready: bool
    reasons: Sequence[str]
    degraded: Sequence[str] = ()


def read_predictions(answer: Any) -> list[Prediction]:
    """Read the answer of POST /predict; raise KeyError or TypeError if it is another one."""
    model = read_version(answer["model"])
    return [
        Prediction(
            _one_of(each["y_pred"], float, int, bool, str, type(None)),
            model,
            _optional(each.get("interval"), _read_interval),
            _optional(each.get("probabilities"), _read_probabilities),
            _optional(each.get("appended"), _read_place),
        )
        for each in answer["predictions"]
    ]


def read_appended(answer: Any) -> list[Appended]:
    """Read the answer of POST /events and POST /feedback."""
    return [_read_place(each) for each in answer["appended"]]


def read_model(answer: Any) -> Model:
    """Read the answer of GET /model."""
    return Model(
        read_version(answer),
        _one_of(answer["learner"], str),
        _one_of(answer["task"], str),
        {int(p): _one_of(offset, int) for p, offset in answer["positions"].items()},
        float(_one_of(answer["published_at"], float, int)),
        _optional(answer.get("inputs"), lambda names: [_one_of(name, str) for name in names]),
    )


def read_readiness(answer: Any) -> Readiness:
    """Read the answer of GET /ready."""
    reasons = [_one_of(reason, str) for reason in answer["reasons"]]
    degraded = [_one_of(reason, str) for reason in answer.get("degraded", ())]
    return Readiness(_one_of(answer["ready"], bool), reasons, degraded)


def read_version(answer: Any) -> ModelVersion:
    """Read the version of a model."""
    return ModelVersion(
        _one_of(answer["name"], str),
        _one_of(answer["version"], int),
        float(_one_of(answer["age_seconds"], float, int)),
        _one_of(answer.get("n_learned"), int, type(None)),
    )


def _read_place(answer: Any) -> Appended:
    return Appended(
        _one_of(answer["partition"], int),
        _one_of(answer["offset"], int),
        _one_of(answer["is_new"], bool),
    )


def _read_interval(answer: Any) -> Interval:
    return Interval(*(float(_one_of(answer[name], float, int)) for name in Interval._fields))


def _read_probabilities(answer: Any) -> dict[str, float]:
    return {name: float(_one_of(p, float, int)) for name, p in answer.items()}


def _optional(value: Any, read: Any) -> Any:
    return None if value is None else read(value)


def _one_of(value: Any, *types: type) -> Any:
    """Return a value of one of these types; a bool is no int."""
    if type(value) not in types:
        raise TypeError(f"{value!r} is not a {types[0].__name__}")
    return value
