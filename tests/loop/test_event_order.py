"""`EventOrder`: whether events come in the order of their times."""

from __future__ import annotations

import logging

import pytest
from support.list_source import LIST

from iln_stream.errors import RefusedError
from iln_stream.loop import Step
from iln_stream.loop.logs import EventOrder


def step(offset: int, time: float | None, *, late: bool = False) -> Step:
    return Step(LIST, offset, None, time, {}, 1.0, 1.0, 0.0, late=late)


def test_counts_and_first_warning(caplog: pytest.LogCaptureFixture) -> None:
    """Events older than the one before are counted, equal times and late labels are not, and only
    the first one is logged."""
    order = EventOrder("h.csv")
    for offset, time in enumerate([5.0, 5.0, 4.0, None, 9.0, 8.0]):
        order.on_step(step(offset, time))
    order.on_step(step(6, 1.0, late=True))
    assert (order.n_older, order.first, order.last) == (2, 4.0, 9.0)
    assert [r.message.partition(" is older")[0] for r in caplog.records] == ["h.csv: record 2"]
    assert caplog.records[0].levelno == logging.WARNING


def test_a_stream_that_runs_backwards() -> None:
    """Newest first is refused soon."""
    order = EventOrder("h.csv")
    for offset in range(20):
        order.on_step(step(offset, 100.0 - offset))
    with pytest.raises(RefusedError, match=r"h\.csv: 20 of the first 21 .*oldest first"):
        order.on_step(step(20, 0.0))


def test_a_shuffled_stream_is_learned() -> None:
    """Half of the events out of order is not backwards."""
    order = EventOrder("h.csv")
    for offset in range(1000):
        order.on_step(step(offset, float(offset * 619 % 1000)))
    assert 300 < order.n_older < 700
