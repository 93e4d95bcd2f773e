"""Reads predictions: rows that a loop collected, messages of the service, or a file of these."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

from iln_stream.errors import IlnError
from iln_stream.events import Prediction, PredictionV1, read_prediction

_KEYS = ("y_pred", "y", "intervals", "probabilities", "time")
"""What a row may have; the names are those of the service's messages."""


class Row(NamedTuple):
    """One prediction.

    Parameters
    ----------
    y_pred, y
        The prediction and the label: numbers or classes; None: unknown.
    intervals
        Lower and upper bound by level.
    p
        Probability of the class `y_pred`; None of a number.
    time
        POSIX seconds, of the event or of what is forecast.
    horizon
        How far ahead, of a forecast.
    place
        Stream, partition and offset of the event, if it is a message.

    """

    y_pred: Any
    y: Any
    intervals: Mapping[float, tuple[float, float]]
    p: float | None
    time: float | None
    horizon: str | None = None
    place: tuple[str, int, int] | None = None

    @property
    def is_class(self) -> bool:
        """Whether it predicts a class."""
        return self.p is not None or isinstance(self.y_pred, bool | str)


def read_rows(source: str | Path | Iterable[Any]) -> Iterator[Row]:
    """Yield the rows of a file (`-`: standard input), or of an iterable; a repeat only once.

    A repeat is a message with the place and horizon of an earlier one, such as a run writes after a
    crash. The last line of a file is left out if it is not complete, as while a run writes it.

    Raises
    ------
    IlnError
        When the file can't be read, or something is not a prediction.

    """
    found = _messages(source) if isinstance(source, str | Path) else map(_row, source)
    seen = set()
    for row in found:
        if row.place is not None:
            if (row.place, row.horizon) in seen:
                continue
            seen.add((row.place, row.horizon))
        yield row


def _messages(path: str | Path) -> Iterator[Row]:
    try:
        with sys.stdin.buffer if str(path) == "-" else Path(path).open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    yield _row_of_message(read_prediction(line))
                except ValueError as error:
                    if not line.endswith(b"\n"):
                        return
                    raise IlnError(
                        f"{path}, line {number} is not a prediction: give a file that a run wrote "
                        'with predictions = "FILE"'
                    ) from error
    except OSError as error:
        raise IlnError(f"can't read {path}: {error.strerror}") from error


def _row(given: Any) -> Row:
    if isinstance(given, Prediction | PredictionV1):
        return _row_of_message(given)
    if not isinstance(given, Mapping) or "y_pred" not in given:
        raise IlnError(
            f"a row must be a dict with y_pred and y, not {given!r:.80}; it may also have "
            "intervals, probabilities and time"
        )
    if unknown := set(given) - set(_KEYS):
        raise IlnError(f"a row has {', '.join(_KEYS)}, but not {', '.join(map(str, unknown))}")
    y_pred, probabilities = given["y_pred"], given.get("probabilities")
    y = given.get("y")
    return Row(
        y_pred,
        None if _is_missing(y) else y,
        {float(level): bounds for level, bounds in (given.get("intervals") or {}).items()},
        None if probabilities is None else float(probabilities.get(y_pred, 0.0)),
        _seconds(given.get("time")),
    )


def _is_missing(y: Any) -> bool:
    """Whether y is how pandas says unknown: nan, NaT or NA (whose comparisons are NA again)."""
    return type(y).__name__ == "NAType" or bool(y != y)


def _seconds(time: Any) -> float | None:
    if isinstance(time, datetime):
        if time.tzinfo is None:
            raise IlnError(
                f"time {time} has no time zone: give one, as in time.replace(tzinfo=timezone.utc)"
            )
        return time.timestamp()
    if time is None or (isinstance(time, Real) and not isinstance(time, bool)):
        return None if time is None else float(time)
    raise IlnError(f"time must be a datetime or POSIX seconds, not {time!r:.80}")


def _row_of_message(message: Prediction | PredictionV1) -> Row:
    place = message.stream, message.partition, message.offset
    if isinstance(message, PredictionV1):
        return Row(message.y_pred, message.y, {}, None, None, None, place)
    p = None
    if message.probabilities is not None:
        label = message.y_pred
        p = next((e.p for e in message.probabilities if _same(e.label, label)), 0.0)
    return Row(
        message.y_pred,
        message.y,
        {float(level): bounds for level, bounds in (message.intervals or {}).items()},
        p,
        message.time if message.horizon_time is None else message.horizon_time,
        message.horizon,
        place,
    )


def _same(a: Any, b: Any) -> bool:
    """Whether two classes are the same one: true and 1 are two."""
    return type(a) is type(b) and bool(a == b)
