"""What the client of the HTTP API sends and returns, and its errors."""

import datetime as dt
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from iln_stream.errors import IlnError

Class = bool | str


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
    unknown_inputs
        Names that the learner has not learned: they may be misspelt.
    quantiles
        Quantiles of a number, by level as text, such as "0.9"; None: the run has none.

    """

    y_pred: float | Class | None
    model: ModelVersion
    interval: Interval | None = None
    probabilities: Mapping[str, float] | None = None
    appended: Appended | None = None
    unknown_inputs: Sequence[str] = ()
    quantiles: Mapping[str, float] | None = None


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
            tuple(_one_of(name, str) for name in each.get("unknown_inputs", ())),
            _optional(each.get("quantiles"), _read_probabilities),
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


class ClientError(IlnError):
    """A call failed; the base of all errors of the client.

    Attributes
    ----------
    appended
        Of `append_many` and `feedback_many`: places of the events or labels before the failure,
        which are stored.

    """

    appended: Sequence[Appended] = ()


class TransportError(ClientError):
    """The server could not be reached, or the connection failed before its answer was complete.

    An event without an id may have been appended.
    """


class TimedOutError(TransportError):
    """The server took longer than `timeout`."""


class AnswerError(ClientError):
    """The answer is not one of this API."""


class StatusError(ClientError):
    """The server refused the request; the message is the server's.

    Parameters
    ----------
    status
        HTTP status, from 400 on.
    message
        What is wrong, and the remedy.
    retry_after
        Seconds after which the server asks to try again; None: it does not say.

    """

    def __init__(self, status: int, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class UnavailableError(StatusError):
    """The server can't do it now (408, 429, 502, 503 or 504); later it may."""


Input = float | bool | str | None
Inputs = Mapping[str, Input]
Label = float | bool | str
Moment = dt.datetime | float


class NewEvent(NamedTuple):
    """An event to append, or to predict.

    Parameters
    ----------
    x
        Inputs by name.
    y
        The label: a number, or a class; None: not known yet.
    id
        Your id of the event. The log keeps one event of each id, so that an event with an id can be
        sent again.
    timestamp
        When it happened: with a UTC offset, or POSIX seconds; None: unknown.
    weight
        How much it counts when it is learned, at least 0; None: 1.

    """

    x: Inputs
    y: Label | None = None
    id: str | None = None
    timestamp: Moment | None = None
    weight: float | None = None


class NewLabel(NamedTuple):
    """The label of an event, to append.

    Parameters
    ----------
    id
        Your id of the event.
    y
        The label: a number, or a class. The log keeps a label once; one that differs from the
        newest label of the event is appended as its correction.
    timestamp
        When it became known: with a UTC offset, or POSIX seconds; None: unknown.
    weight
        How much the event counts when it is learned, at least 0; None: the event's.

    """

    id: str
    y: Label
    timestamp: Moment | None = None
    weight: float | None = None


def encoded(field: str, value: Any) -> bytes:
    """Return a value as JSON; numpy's numbers are written as Python's.

    Raises
    ------
    ValueError
        When a number is not finite, or a value is none of JSON's; it names the field.

    """
    try:
        text = json.dumps(
            value, allow_nan=False, separators=(",", ":"), ensure_ascii=False, default=_plain
        )
        return text.encode()
    except (TypeError, ValueError) as error:
        for path, each in _leaves(field, value):
            if isinstance(each, float) and not math.isfinite(each):
                raise ValueError(
                    f"{path} = {each}: must be finite; leave an unknown input out, or None"
                ) from None
            if not isinstance(each, float | int | str | None):
                raise ValueError(
                    f"{path} = {each!r}: must be a number, a bool, a str or None"
                ) from None
        raise ValueError(f"{field}: {error}") from None


def inputs(x: Inputs) -> dict[str, Input]:
    """Return the inputs of an event, whose names must be text."""
    for name in x:
        if not isinstance(name, str):
            raise ValueError(f"x: the name {name!r} must be a str")
    return dict(x)


def event_fields(event: NewEvent | Inputs) -> dict[str, Any]:
    """Return the fields of an event that are known; a mapping is the inputs of one."""
    if not isinstance(event, NewEvent):
        return {"x": inputs(event)}
    return {
        "x": inputs(event.x),
        **_known(y=event.y, id=event.id, timestamp=_moment(event.timestamp), weight=event.weight),
    }


def label_fields(label: NewLabel) -> dict[str, Any]:
    """Return the fields of a label that are known."""
    more = _known(timestamp=_moment(label.timestamp), weight=label.weight)
    return {"id": label.id, "y": label.y, **more}


def in_batches(items: Sequence[bytes], most: int, most_bytes: int) -> Iterator[Sequence[bytes]]:
    """Split into batches of at most `most` items and `most_bytes` bytes, one item at least.

    Examples
    --------
    >>> from iln_stream.serving.client_messages import in_batches
    >>> list(in_batches([b"aa", b"b", b"cc", b"dddddd"], most=2, most_bytes=5))
    [[b'aa', b'b'], [b'cc'], [b'dddddd']]

    """
    batch: list[bytes] = []
    size = 0
    for item in items:
        if batch and (len(batch) == most or size + len(item) + 1 > most_bytes):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += len(item) + 1  # the comma
    if batch:
        yield batch


def _known(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _moment(moment: Moment | None) -> str | float | None:
    if not isinstance(moment, dt.datetime):
        return moment
    if moment.tzinfo is None:
        raise ValueError(f"timestamp = {moment}: has no UTC offset; give tzinfo")
    return moment.isoformat()


def _plain(value: Any) -> Any:
    """Return a numpy number as one of Python's."""
    if not _is_numpy_scalar(value):
        raise TypeError(f"{value!r} is not a value of JSON")
    return value.item()


def _is_numpy_scalar(value: Any) -> bool:
    return hasattr(value, "item") and getattr(value, "shape", None) == ()


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _leaves(f"{path}.{name}" if path else str(name), each)
    else:
        yield path, value.item() if _is_numpy_scalar(value) else value
