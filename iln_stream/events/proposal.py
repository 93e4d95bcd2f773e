"""Advice about records that are not events."""

import json
from typing import Any

_MOST_FIELDS = 8


def proposal(payload: str) -> str:
    """Return a sentence that says how to turn such a record into an event.

    Parameters
    ----------
    payload
        The record as text, possibly truncated.

    Examples
    --------
    >>> from iln_stream.events.proposal import proposal
    >>> proposal('{"rooms": 3, "price": 1.5}').endswith(
    ...     "jq -c '{x: del(.price), y: .price}' does this"
    ... )
    True

    """
    try:
        found = json.loads(payload)
    except ValueError:
        return 'An event is one JSON object, {"x": {inputs}, "y": label}'
    if not isinstance(found, dict) or not found or "x" in found:
        return 'An event is {"x": {name: number, text or boolean, ...}, "y": number}'
    label = _label(found)
    inputs = {name: value for name, value in found.items() if name != label}
    event = json.dumps({"x": dict(list(inputs.items())[:_MOST_FIELDS]), "y": found[label]})
    return (
        f"It has the fields {', '.join(map(str, found))}, but an event is "
        f'{{"x": {{inputs}}, "y": label}}. If {label} is the label, send {event}: '
        f"jq -c '{{x: del(.{label}), y: .{label}}}' does this"
    )


def _label(fields: dict[str, Any]) -> str:
    """Guess the label: a field with a usual name, or else the last number."""
    for name in ("y", "target", "label"):
        if name in fields:
            return name
    numbers = [name for name, value in fields.items() if isinstance(value, int | float)]
    return (numbers or list(fields))[-1]
