"""The benchmark of learning curves on long streams."""

import json

import numpy as np
import pytest

from benchmarks.long_streams.__main__ import ENDS, LEARNERS, RESULTS, run, table
from benchmarks.long_streams.plot import draw
from benchmarks.long_streams.streams import DESIGN, HELD_BACK, NOISE, STREAMS


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_is_a_function_of_its_seed(name):
    """The same seed gives the same events, whatever their number, and another seed others."""
    first, more, other = (
        list(STREAMS[name].events(n, seed)) for n, seed in ((50, 1), (12_000, 1), (50, 2))
    )
    assert first == more[:50]
    assert first != other
    x, _ = first[0]
    assert len(x) == STREAMS[name].d
    targets = np.array([y for _, y in more[:10_000]])
    assert np.isfinite(targets).all()
    assert targets.std() == pytest.approx(np.hypot(1.0, NOISE), rel=0.1)


def test_errors_are_ratios_by_segment():
    """A learner that follows the target has errors below the running mean's, segment by segment."""
    cell = run("river-linear", "skewed", 1, 1_500)
    assert len(cell["errors"]) == sum(end < 1_500 for end in ENDS) + 1
    assert 0.1 < cell["errors"][1] < 1.0
    assert cell["us"] > 0.0


def test_the_table_has_medians_and_means():
    """Medians over seeds, and a line of geometric means where all streams of a group are stored."""
    stored = {
        f"1000 {stream} accurate {seed}": {"errors": [0.5, 0.1 * seed], "us": 100.0}
        for stream in HELD_BACK
        for seed in (1, 2, 3)
    }
    lines = table("held back", HELD_BACK, 1_000, stored)
    assert lines[2] == "| bumps | accurate | .500 | .200 | 100 |"
    assert lines[-1] == "| gm | accurate | .500 | .200 |  |"
    assert len(table("design", DESIGN, 1_000, stored)) == 2


def test_a_picture_of_what_is_stored(tmp_path):
    """The stored curves are drawn, whichever learners there are."""
    stored = {f"1000 {stream} accurate 1": {"errors": [0.5, 0.3]} for stream in STREAMS}
    draw(stored, 1_000, ENDS, tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_stored_results_are_of_these_streams_and_learners():
    """Three seeds of our profiles on each stream, and one of each peer."""
    stored = json.loads(RESULTS.read_text())
    for stream in STREAMS:
        for learner in LEARNERS:
            seeds = (1, 2, 3) if learner in ("accurate", "no-networks", "fast") else (1,)
            assert all(f"100000 {stream} {learner} {seed}" in stored for seed in seeds)
