"""Writes predictions as JSON, fast."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pydantic_core import to_json


class Ahead(Protocol):
    """How far ahead a forecast is."""

    @property
    def text(self) -> str:
        """As it is written."""

    @property
    def seconds(self) -> float | None:
        """Time in seconds; None: it is a number of records."""


class PredictionEncoder:
    """Writes the predictions of one stream and one model.

    Not by a `Prediction`, as to make one takes several times as long. The bytes are those of it.

    Parameters
    ----------
    stream
        As in `Prediction`.
    model, model_version
        As in `Model`.
    levels
        Levels of the intervals that each prediction has.
    horizon
        How far ahead they are; None: they are no forecasts.
    versions
        The version of each contender, if there are several.
    quantiles
        Levels of the quantiles that each prediction has.

    Examples
    --------
    >>> encode = PredictionEncoder("iln-events", "iln-events/pool", "5f3a")
    >>> print(encode(0, 42, "a-17", 60.0, None, y_pred=12.5, y=None).decode())
    {"version":2,"stream":"iln-events","partition":0,"offset":42,"id":"a-17","time":60.0,"key":null,\
"model":{"name":"iln-events/pool","version":"5f3a"},"y_pred":12.5,"y":null}

    """

    def __init__(
        self,
        stream: str,
        model: str,
        model_version: str,
        levels: Sequence[float] = (),
        horizon: Ahead | None = None,
        versions: Mapping[str, str] | None = None,
        quantiles: Sequence[float] = (),
    ) -> None:
        self._stream = stream
        of_contenders = [(None, model_version), *(versions or {}).items()]
        self._models = {each: {"name": model, "version": digest} for each, digest in of_contenders}
        self._levels = tuple(map(repr, levels))
        self._quantiles = tuple(map(repr, quantiles))
        self._horizon = horizon

    def __call__(
        self,
        partition: int,
        offset: int,
        event_id: str | None,
        time: float | None,
        key: str | None,
        y_pred: float | Mapping[Any, float],
        y: Any,
        intervals: Sequence[tuple[float, float]] = (),
        explanation: tuple[float, Mapping[Any, float]] | None = None,
        contender: str | None = None,
        quantiles: Sequence[float] = (),
        challengers: Mapping[str, float | Mapping[Any, float]] | None = None,
        series: Sequence[str] = (),
    ) -> bytes:
        """Return a `Prediction` as UTF-8 JSON; finite numbers are written without loss."""
        if key is not None and not key.isascii():  # bytes that are not UTF-8 are escapes in it
            key = key.encode(errors="surrogateescape").decode(errors="backslashreplace")
        found: dict[str, Any] = {
            "version": 2, "stream": self._stream, "partition": partition, "offset": offset,
            "id": event_id, "time": time, "key": key, "model": self._models[contender],
            "y_pred": y_pred, "y": y,
        }  # fmt: skip
        if not isinstance(y_pred, float):
            found["y_pred"] = _most_probable(y_pred)
            found["probabilities"] = [{"class": c, "p": p} for c, p in y_pred.items()]
        if intervals:
            found["intervals"] = dict(zip(self._levels, intervals, strict=True))
        if quantiles:
            found["quantiles"] = dict(zip(self._quantiles, quantiles, strict=True))
        if explanation is not None:
            baseline, contributions = explanation
            by_name = {str(name): each for name, each in contributions.items()}
            found["explanation"] = {"baseline": baseline, "contributions": by_name}
        if self._horizon is not None:
            found["horizon"] = self._horizon.text
            if self._horizon.seconds is not None and time is not None:
                found["horizon_time"] = time + self._horizon.seconds
        if series:
            found["series"] = series
        if contender is not None:
            found["contender"] = contender
        if challengers:
            found["challengers"] = {
                name: each if isinstance(each, float) else _most_probable(each)
                for name, each in challengers.items()
            }
        return to_json(found, fallback=_number)


def _most_probable(y_pred: Mapping[Any, float]) -> Any:
    """Return a class; None: none is known."""
    return max(y_pred, key=y_pred.__getitem__) if y_pred else None


def _number(scalar: Any) -> Any:
    """Return a class that numpy made as one of Python's."""
    return scalar.item()
