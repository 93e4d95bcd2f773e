"""The fields by which two logs can be joined."""

from collections.abc import Mapping, Sequence
from typing import Any

from iln_stream.mapping.values import as_text

_LEAST = 0.5
"""Share of different values, so that a number of bags is not taken for an id."""


def common_field(
    events: Sequence[Mapping[str, Any]],
    labels: Sequence[Mapping[str, Any]],
    of_events: str | None = None,
    of_labels: str | None = None,
) -> tuple[str, str] | None:
    """Return the field of events and the field of labels that have the most values in common.

    Parameters
    ----------
    events, labels
        Fields of records, flat.
    of_events, of_labels
        The field, if it is known.

    Examples
    --------
    >>> from iln_stream.mapping.common_field import common_field
    >>> orders = [{"order": 7, "bags": 1}, {"order": 8, "bags": 2}]
    >>> common_field(orders, [{"for": "8", "minutes": 31}, {"for": "9", "minutes": 30}])
    ('order', 'for')

    """
    in_events, in_labels = _texts(events, of_events), _texts(labels, of_labels)
    common = {
        (a, b): len(values & others)
        for a, values in in_events.items()
        for b, others in in_labels.items()
    }
    best = max(common, key=lambda pair: common[pair], default=None)
    return best if best is not None and common[best] else None


def _texts(records: Sequence[Mapping[str, Any]], only: str | None) -> dict[str, set[str]]:
    """Return the different values of each field, as ids have them, if most are different."""
    found: dict[str, list[str]] = {}
    for record in records:
        for name, value in record.items():
            if only in (None, name) and type(value) in (int, str, float) and value == value:
                found.setdefault(name, []).append(as_text(value))
    values = {name: set(texts) for name, texts in found.items()}
    return {name: v for name, v in values.items() if only or len(v) >= _LEAST * len(found[name])}
