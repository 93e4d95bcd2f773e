"""`described_change`: what a refused run says of changed settings."""

from typing import Any

import pytest

from iln_stream.service import Settings
from iln_stream.service.challengers import described_change
from iln_stream.service.decoding import described


def fields(**given: Any) -> dict[str, Any]:
    return {"fields": described(Settings(source="sqlite:log.db", **given))}


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (
            {"target": "y", "types": {"a": "number", "b": "time"}},
            {"target": "y", "types": {"a": "category", "b": "time"}, "decimal": ","},
            "types.a was 'number' and is 'category'; decimal was '.' and is ','",
        ),
        ({}, {"target": "y"}, "target was None and is 'y'"),
        ({"target": "y"}, {}, "target was 'y' and is None"),
        ({}, {"features": ["*"]}, "settings of fields were not given, or are not any more"),
    ],
)
def test_fields(before: dict[str, Any], now: dict[str, Any], told: str) -> None:
    """Only settings that differ are told, not all that say which field is what."""
    assert described_change(fields(**before), fields(**now), "fields") == told


def test_an_option() -> None:
    """Of a setting with entries, only the entry that changed is told."""
    before, now = ({"learner_options": {"size": n, "step": 0.1}} for n in (64, 32))
    told = described_change(before, now, "learner_options")
    assert told == "learner_options.size was 64 and is 32"
