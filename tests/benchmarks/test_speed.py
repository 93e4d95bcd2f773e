"""The benchmarks of speed run at a tiny size."""

import json
from importlib import import_module

import pytest
from speed import memory, peers
from speed.__main__ import SECTIONS
from speed.effort import Effort
from speed.friedman import friedman

TINY = Effort(
    rounds=1,
    block=1e-5,
    supports=(50,),
    widths=(3,),
    draws=(10,),
    growth=(50, 100),
    events=160,
    patience=0.0,
    rebuilt=50,
    replicates=2,
    starts=1,
)


def test_peers_predict_before_they_learn():
    """A prediction made after the event was learned would win every comparison."""
    [(x, _)] = friedman(1)
    for peer in peers.peers():
        step = peer.start()
        assert step(x, 0.5) == 0.0, peer.name
        predictions = [step(x, 0.5) for _ in range(30)]
        assert abs(predictions[-1] - 0.5) < 0.3, peer.name


LONG = {"cells", "growth", "machine_limit", "rebuild", "variance_time"}


@pytest.mark.parametrize(
    "section",
    [
        pytest.param(name, marks=pytest.mark.thorough if name in LONG else ())
        for name in sorted(SECTIONS.keys() - {"startup"})
    ],
)
def test_section_measures(section):
    """Each section fills its tables, for every estimator there is, with positive numbers."""
    for findings in import_module(f"speed.{section}").measure(TINY):
        assert findings.rows
        for row in findings.rows:
            assert row.keys() == findings.rows[0].keys()
            assert all(cell >= 0 for cell in row.values() if isinstance(cell, float))


def test_memory_run_learns_all_its_events(tmp_path):
    """The last reading is at the last event, and the picture and its numbers are there."""
    arguments = ["--events", "700", "--out", str(tmp_path)]
    memory.main(arguments)
    found = json.loads((tmp_path / "memory_pool.json").read_text("utf-8"))
    assert found["readings"][-1][0] == 700
    assert (tmp_path / "memory_pool.png").read_bytes().startswith(b"\x89PNG")
