"""The arithmetic around what is timed, and that each section runs on the estimators there are."""

import json
from importlib import import_module

import numpy as np
import pytest
from speed import memory, ours, peers, per_event, startup
from speed.__main__ import SECTIONS
from speed.clock import side_by_side
from speed.contender import Contender
from speed.effort import Effort
from speed.findings import Findings, shown
from speed.friedman import friedman
from speed.machine_limit import Machine, Units
from speed.report import as_json

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


def test_calls_are_timed_in_turns():
    """Each round times everyone once, so a slow spell of the machine falls on all."""
    order = []
    calls = {name: lambda name=name: order.append(name) for name in "abc"}
    times = side_by_side(calls, rounds=4, block=0.0)
    assert order[-12:] == list("abc") * 4
    assert all(len(seconds) == 4 and min(seconds) >= 0 for seconds in times.values())


def test_limit_adds_what_a_draw_is_made_of():
    """m x (d normals + index + row + 2 cosines), in seconds."""
    units = Units(normal=1.0, cosine=0.5, index=2.0, growing_index=6.0, row=4.0, best={})
    assert units.limit(m=100, d=3) == pytest.approx(100 * (3 + 2 + 4 + 1) * 1e-9)
    assert units.limit(m=100, d=3, growing=True) == pytest.approx(100 * (3 + 6 + 4 + 1) * 1e-9)


def test_limit_takes_the_best_loop_of_each():
    """Units come from the fastest loop; only an index that points can join is the growing one."""
    machine = Machine(50, 3)
    seconds = dict.fromkeys(machine.calls(), 1.0)
    seconds |= {"normal: one pass": 0.5, "index: alias table": 0.1, "index: guide table": 0.7}
    units = machine.units(seconds)
    assert units.best["normal"] == "one pass"
    assert units.index / units.row == pytest.approx(0.1)
    assert units.growing_index / units.row == pytest.approx(0.7)


def echo():
    """A learner that predicts the number of events it has learned."""
    seen = []

    def step(x, y):
        seen.append(y)
        return float(len(seen) - 1)

    return step


def test_comparison_takes_the_stream_in_order():
    """Errors are of the events, one after another, whatever the blocks."""
    stream = [({}, float(i)) for i in range(2 * per_event.BLOCKS)]
    rates, errors = per_event.compare([Contender("echo", echo)], stream, patience=60.0)
    assert errors["echo"] == [0.0] * len(stream)
    assert len(rates["echo"]) == per_event.BLOCKS


def test_comparison_stops_a_slow_learner_after_the_first_part():
    """A learner without patience left still takes the part that all losses are told of."""
    stream = [({}, 0.0)] * (2 * per_event.BLOCKS)
    _, errors = per_event.compare([Contender("echo", echo)], stream, patience=0.0)
    assert len(errors["echo"]) == 2 * per_event.FIRST_PART


def test_goals_are_of_learners_that_take_part():
    """A goal, and the peer it is a multiple of, name a row of the table."""
    assert per_event.GOALS.keys() <= {contender.name for contender in ours.ours()}
    named = {contender.name for contender in peers.peers()}
    assert {peer for _, peer in per_event.GOALS.values()} <= named
    assert per_event.SHORT.keys() <= named


def test_times_as_fast():
    """The ratio is of whole times, over the blocks that both took, without the first."""
    assert per_event.times_as_fast([1.0, 4.0, 2.0, 9.0], [50.0, 2.0, 1.0]) == 2.0


@pytest.mark.parametrize("peer", peers.peers(), ids=lambda peer: peer.name)
def test_peers_predict_before_they_learn(peer):
    """A prediction made after the event was learned would win every comparison."""
    if peer.name == "Vowpal Wabbit":
        pytest.importorskip("vowpalwabbit", reason="in the extra `bench`")
    step = peer.start()
    [(x, _)] = friedman(1)
    assert step(x, 0.5) == 0.0
    predictions = [step(x, 0.5) for _ in range(30)]
    assert abs(predictions[-1] - 0.5) < 0.3, "it does not learn"


def test_stream_is_scaled():
    """Inputs of mean 0 and variance 1, within 5 standard errors; targets in [-1, 1]."""
    events = friedman(2000)
    X = np.array([list(x.values()) for x, _ in events])
    assert (np.abs(X.mean(axis=0)) < 5 / np.sqrt(2000)).all()
    assert (np.abs(X.var(axis=0) - 1) < 5 * np.sqrt(0.8 / 2000)).all()
    assert max(abs(y) for _, y in events) <= 1


@pytest.mark.parametrize("section", sorted(SECTIONS.keys() - {"startup"}))
def test_section_measures(section):
    """Each section fills its tables, for every estimator there is, with positive numbers."""
    for findings in import_module(f"speed.{section}").measure(TINY):
        assert findings.rows
        for row in findings.rows:
            assert row.keys() == findings.rows[0].keys()
            assert all(cell >= 0 for cell in row.values() if isinstance(cell, float))


def test_start_is_timed_in_a_fresh_process(tmp_path):
    """The program runs in a process of its own, and numba fills the folder that it was given."""
    imported, ready, _ = startup.start(
        startup.PROGRAM.format(options="estimator='pool', "), tmp_path
    )
    assert 0 < imported < ready
    assert list(tmp_path.iterdir())


def test_report_is_strict_json():
    """What was found comes back; what is no number is refused rather than written."""
    found = Findings("title", [{"what": "a", "µs": 1.5, "goal": None}], "note")
    report = json.loads(as_json(TINY, {"cells": [found]}))
    assert report["sections"]["cells"][0]["rows"] == found.rows
    assert report["versions"]["iln-stream"]
    with pytest.raises(ValueError, match="JSON"):
        as_json(TINY, {"cells": [Findings("title", [{"µs": float("nan")}])]})


@pytest.mark.parametrize(
    ("cell", "text"), [(None, "-"), (0.12345, "0.123"), (12345.6, "12,346"), (7000, "7,000")]
)
def test_cells_are_read_easily(cell, text):
    """Three digits of what was measured, all of what was counted."""
    assert shown(cell) == text


def test_growth_of_memory_is_of_the_settled_run():
    """What is allocated at the start is no growth; what comes after is, by the million events."""
    readings = [(0, 10.0)] + [(n * 100_000, 100.0 + 0.2 * n) for n in range(1, 101)]
    found = memory.growth(readings)
    assert found["MiB a million events"] == pytest.approx(2.0)
    assert found["largest, MiB"] == pytest.approx(120.0)
    assert found["settled, MiB"] == pytest.approx(102.0)


def test_memory_run_learns_all_its_events(tmp_path):
    """The last reading is at the last event, and the picture and its numbers are there."""
    arguments = ["--events", "700", "--out", str(tmp_path)]
    memory.main(arguments)
    found = json.loads((tmp_path / "memory_pool.json").read_text("utf-8"))
    assert found["readings"][-1][0] == 700
    assert (tmp_path / "memory_pool.png").read_bytes().startswith(b"\x89PNG")
