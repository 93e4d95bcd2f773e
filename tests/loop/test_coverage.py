"""`Coverage`: counts how often published intervals contain the label."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.list_source import LIST

from iln_stream.loop import Coverage, Details, Step
from iln_stream.state import from_bytes, to_bytes

LEVELS = (0.5, 0.9)


def step(y, *intervals, event_id=None, late=False):
    loss = None if y is None else 0.5
    return Step(LIST, 0, event_id, None, {}, y, 0.0, loss, late=late, details=Details(intervals))


def read(coverage):
    (metric,) = coverage.metrics()
    return metric.read()


numbers = st.floats(-5, 5)


@given(st.lists(st.tuples(numbers, numbers, st.floats(0, 3)), max_size=40), st.integers(1, 10))
def test_shares_of_the_last_window(rows, window):
    """The share is counted again from the last labels; an interval contains its ends."""
    coverage = Coverage(LEVELS, window)
    coverage.update(
        [step(y, (low, low + width), (low - 1.0, low + width + 1.0)) for y, low, width in rows]
    )
    recent = rows[-window:]
    found = read(coverage)
    if recent:
        inner = sum(low <= y <= low + width for y, low, width in recent) / len(recent)
        outer = sum(low - 1.0 <= y <= low + width + 1.0 for y, low, width in recent) / len(recent)
        assert found["observed", "0.5"] == pytest.approx(inner)
        assert found["observed", "0.9"] == pytest.approx(outer)
    promised = {level for of, level in found if of == "promised"}
    assert promised == ({"0.5", "0.9"} if len(rows) >= window else set())


def test_steps_without_intervals_do_not_count():
    """Events predicted before intervals were asked for, and no labels, leave the share as it is."""
    coverage = Coverage((0.9,), 10)
    coverage.update([step(1.0), step(None, (0.0, 2.0)), step(1.0, event_id="unknown", late=True)])
    coverage.update([step(1.0, (0.0, 2.0))])
    assert read(coverage) == {("observed", "0.9"): 1.0}


def test_no_metrics_without_levels():
    """Without levels nothing is exported."""
    coverage = Coverage((), 10)
    coverage.update([step(1.0)])
    assert coverage.metrics() == ()


STEPS = [
    *(step(float(n % 5), (0.0, 2.0), (0.0, 3.0), event_id=str(n)) for n in range(12)),
    *(step(None, (0.0, 2.0), (0.0, 3.0), event_id=str(n)) for n in range(12, 20)),
    *(step(float(n % 5), (0.0, 2.0), event_id=str(n), late=True) for n in range(13, 20)),
]


def test_a_restored_state_goes_on_bit_for_bit():
    """Windows go through a file and continue."""
    whole, first, second = (Coverage(LEVELS, 8) for _ in range(3))
    whole.update(STEPS)
    first.update(STEPS[:15])
    second.restore(from_bytes(to_bytes(first.state())))
    second.update(STEPS[15:])
    assert second.state() == whole.state()
    assert read(second) == read(whole)


def test_levels_that_changed():
    """A level keeps its window when others are added; a new one begins empty."""
    before, after = Coverage((0.9,), 4), Coverage((0.5, 0.9), 4)
    before.update([step(1.0, (0.0, 2.0))])
    after.restore(before.state())
    found = read(after)
    assert found["observed", "0.9"] == 1.0
    assert found["observed", "0.5"] != found["observed", "0.5"]
