"""Steps, dead letters and other entries as bounded JSON values."""

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from iln_stream.events import DeadLetter
from iln_stream.prequential import Step

LONGEST = 200
"""Characters of a text."""

MOST_LABELS = 100
"""Values of a label that one metric shows."""


def cut(text: object) -> str:
    """Return a text of at most 200 characters."""
    whole = str(text)
    return whole if len(whole) <= LONGEST else f"{whole[: LONGEST - 1]}…"


def number(value: Any) -> float | None:
    """Return a finite number, else None."""
    if value is None:
        return None
    value = float(value)
    return value if isfinite(value) else None


def plain(value: Any) -> Any:
    """Return a JSON value: numbers that are not finite become None, other objects short texts.

    Examples
    --------
    >>> from iln_stream.live.rows import plain
    >>> plain(float("inf")), plain(True), plain((1, 2.5)), plain({"a": None})
    (None, True, [1, 2.5], {'a': None})

    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return number(value)
    if isinstance(value, Mapping):
        return {cut(key): plain(each) for key, each in list(value.items())[:MOST_LABELS]}
    if isinstance(value, tuple | list):
        return [plain(each) for each in value[:MOST_LABELS]]
    return cut(value)


def row_of_step(serial: int, step: Step) -> dict[str, Any]:
    """Return a step as JSON values; of probabilities, those of the most probable class."""
    y_pred, p = step.y_pred, None
    if isinstance(y_pred, Mapping):
        probabilities = y_pred
        y_pred = max(probabilities, key=probabilities.__getitem__) if probabilities else None
        p = number(probabilities[y_pred]) if probabilities else None
    details = step.details
    return {
        "serial": serial,
        "partition": step.partition,
        "offset": step.offset,
        "id": None if step.event_id is None else cut(step.event_id),
        "time": number(step.time),
        "y": plain(step.y),
        "y_pred": plain(y_pred),
        "p": p,
        "interval": [number(bound) for bound in details.intervals[0]]
        if details.intervals
        else None,
        "loss": number(step.loss),
        "flags": list(step.flags),
        "late": step.late,
        "delay": number(step.delay),
        "contender": plain(getattr(details, "contender", None)),
    }


def row_of_letter(serial: int, letter: DeadLetter) -> dict[str, Any]:
    """Return a dead letter as JSON values; `serial` is that of the step before it."""
    return {
        "serial": serial,
        "stream": cut(letter.stream),
        "partition": letter.partition,
        "offset": letter.offset,
        "reason": cut(letter.reason),
        "payload": cut(letter.payload),
    }


def rows_of_standings(
    standings: Iterable[Any], versions: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the contenders of a contest as JSON values, each with the version of its model."""
    return [
        plain({**standing._asdict(), "version": versions.get(standing.name)})
        for standing in standings
    ]
