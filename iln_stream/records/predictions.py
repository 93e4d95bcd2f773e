"""Writes predictions as JSON, fast."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from json.encoder import encode_basestring as quoted
from typing import Any, Protocol


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

    Written by hand, as pydantic takes several times as long. The bytes are those of `Prediction`.

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
        self._begin = f'{{"version":2,"stream":{quoted(stream)},"partition":'
        by_contender: dict[str | None, str] = {None: model_version}
        by_contender.update(versions or {})
        self._models = {
            contender: f',"model":{{"name":{quoted(model)},"version":{quoted(version)}}},"y_pred":'
            for contender, version in by_contender.items()
        }
        self._levels = tuple(f'"{level!r}":' for level in levels)
        self._quantiles = tuple(f'"{level!r}":' for level in quantiles)
        self._horizon = "" if horizon is None else f',"horizon":{quoted(horizon.text)}'
        self._seconds = None if horizon is None else horizon.seconds

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
        value = _value(y_pred)
        end = "" if isinstance(y_pred, float) else _probabilities(y_pred)
        label = repr(y) if type(y) is float else _json(y)
        if intervals:
            end += self._intervals(intervals)
        if quantiles:
            found = zip(self._quantiles, quantiles, strict=True)
            end += f',"quantiles":{{{",".join(f"{level}{q!r}" for level, q in found)}}}'
        if explanation is not None:
            end += _explanation(*explanation)
        if self._horizon:
            end += self._horizon
            if self._seconds is not None and time is not None:
                end += f',"horizon_time":{time + self._seconds!r}'
        if series:
            end += f',"series":[{",".join(map(quoted, series))}]'
        if contender is not None:
            end += f',"contender":{quoted(contender)}'
        if challengers:
            others = (f"{quoted(name)}:{_value(each)}" for name, each in challengers.items())
            end += f',"challengers":{{{",".join(others)}}}'
        text = (
            f'{self._begin}{partition},"offset":{offset}'
            f',"id":{"null" if event_id is None else quoted(event_id)}'
            f',"time":{"null" if time is None else repr(time)}'
            f',"key":{"null" if key is None else quoted(key)}'
            f'{self._models[contender]}{value},"y":{label}{end}}}'
        )
        return text.encode()

    def _intervals(self, intervals: Sequence[tuple[float, float]]) -> str:
        parts = (
            f"{level}[{low!r},{high!r}]"
            for level, (low, high) in zip(self._levels, intervals, strict=True)
        )
        return f',"intervals":{{{",".join(parts)}}}'


def _value(y_pred: float | Mapping[Any, float]) -> str:
    """Return a number, or the most probable class."""
    if isinstance(y_pred, float):
        return repr(y_pred)
    return _json(max(y_pred, key=y_pred.__getitem__) if y_pred else None)


def _probabilities(y_pred: Mapping[Any, float]) -> str:
    parts = (f'{{"class":{_json(c)},"p":{p!r}}}' for c, p in y_pred.items())
    return f',"probabilities":[{",".join(parts)}]'


def _explanation(baseline: float, contributions: Mapping[Any, float]) -> str:
    parts = (f"{quoted(str(name))}:{value!r}" for name, value in contributions.items())
    return f',"explanation":{{"baseline":{baseline!r},"contributions":{{{",".join(parts)}}}}}'


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=lambda scalar: scalar.item())
_encoded = lru_cache(maxsize=1024, typed=True)(_ENCODER.encode)


def _json(value: Any) -> str:
    """Return a class, a number or None as JSON; the cache would take -0.0 for 0.0."""
    return float.__repr__(value) if isinstance(value, float) else _encoded(value)
