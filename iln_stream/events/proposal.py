"""Advice about records that are not events."""

import json
from typing import Any

_MOST_FIELDS = 8


def proposal(payload: str) -> str:
    """Return a sentence that says how to learn such a record.

    Parameters
    ----------
    payload
        The record as text, possibly truncated.

    Examples
    --------
    >>> from iln_stream.events.proposal import proposal
    >>> proposal('{"rooms": 3, "price": 1.5}').endswith("set target = price")
    True

    """
    try:
        found = json.loads(payload)
    except ValueError:
        return 'An event is one JSON object, {"x": {inputs}, "y": label}'
    if not isinstance(found, dict) or not found or "x" in found:
        return 'An event is {"x": {name: number, text or boolean, ...}, "y": number}'
    names = list(found)
    more = f" and {len(names) - _MOST_FIELDS} more" if len(names) > _MOST_FIELDS else ""
    return (
        f"It has the fields {', '.join(names[:_MOST_FIELDS])}{more}. To learn records as they are, "
        "name the field of the label; `iln-stream inspect-source` shows all fields. If "
        f"{_label(found)} is the label, set target = {_label(found)}"
    )


def _label(fields: dict[str, Any]) -> str:
    """Guess the label: a field with a usual name, or else the last number."""
    for name in ("y", "target", "label"):
        if name in fields:
            return name
    numbers = [name for name, value in fields.items() if isinstance(value, int | float)]
    return (numbers or list(fields))[-1]
