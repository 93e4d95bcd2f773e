"""Verdicts on records."""

import pytest

from benchmarks.endurance.cell import Cell
from benchmarks.endurance.verdict import verdict

CELL = Cell("fast", "smooth", 1_000_000)


def record(**changes):
    good = {
        "n_finite": 1_000_000,
        "first_not_finite": None,
        "n_reset": 0,
        "decades": [
            {"end": end, "mean": mean, "median": mean, "base_mean": 2.0, "base_median": 2.0}
            for end, mean in ((100, 0.1), (1_000, 1.0), (10_000, 0.8), (100_000, 0.7))
        ],
        "memory": [[n, 200.0, 5_000] for n in range(10_000, 1_000_001, 10_000)],
        "state_bytes": [[n, 1_000] for n in range(100_000, 1_000_001, 100_000)],
        "resumed": [],
    }
    return good | changes


def decades(**changes):
    return [*record()["decades"][:-1], record()["decades"][-1] | changes]


def test_a_good_record_passes():
    """Errors that fall, constant memory."""
    assert verdict(CELL, record()).passes


def test_predictions_must_be_finite():
    """One that is not finite fails, and so does an exception."""
    found = verdict(CELL, record(n_finite=999_999, first_not_finite=7))
    assert found.finite == "1 not finite, the first at event 7"
    assert not verdict(CELL, {"failed": "ValueError: x"}).passes


def test_parts_must_not_break():
    """A part that was replaced hides a recursion that broke; not all learners count resets."""
    assert verdict(CELL, record(n_reset=2)).resets == "2 parts reset"
    assert verdict(CELL, record(n_reset=None)).passes


@pytest.mark.parametrize(
    ("change", "fails"),
    [({"mean": 0.87}, False), ({"mean": 0.89}, True), ({"median": 0.89}, True),
     ({"mean": None}, True), ({"mean": 1.7, "base_mean": 4.0}, False)],
)  # fmt: skip
def test_errors_must_not_rise_on_stationary_streams(change, fails):
    """A decade may exceed the best before it by a tenth, relative to the running mean."""
    changed = record(decades=decades(**change))
    assert bool(verdict(CELL, changed).rising) is fails
    assert verdict(CELL._replace(stream="drifting"), changed).rising == ""


@pytest.mark.parametrize(
    ("per_event", "objects", "fails"),
    [(0.0, 0.0, False), (4e-6, 0.0, False), (8e-6, 0.0, True), (0.0, 0.02, False),
     (0.0, 1.0, True)],
)  # fmt: skip
def test_memory_must_be_flat(per_event, objects, fails):
    """Neither the process nor the number of Python's objects may grow after 100,000 events."""
    memory = [
        [n, 200.0 + per_event * n, 5_000 + int(objects * n)]
        for n in range(10_000, 1_000_001, 10_000)
    ]
    changed = record(memory=memory)
    assert bool(verdict(CELL, changed).memory) is fails
    assert verdict(CELL._replace(learner="averaged"), changed).memory == ""


def test_a_state_must_not_grow():
    """A state that grows by an array per snapshot fails, however small."""
    grown = [[n, 1_000 + n // 20_000] for n in range(100_000, 1_000_001, 100_000)]
    assert "state grew" in verdict(CELL, record(state_bytes=grown)).memory


def test_memory_of_a_resumed_run_is_that_of_its_last_process():
    """A new process has other memory; one that only took the last events can't be judged."""
    memory = [
        [n, 300.0 if n <= 500_000 else 200.0, 5_000] for n in range(10_000, 1_000_001, 10_000)
    ]
    assert verdict(CELL, record(memory=memory, resumed=[500_000])).passes
    assert "interrupted" in verdict(CELL, record(resumed=[950_000])).memory
