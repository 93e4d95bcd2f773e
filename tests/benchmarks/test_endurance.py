"""`make endurance`: a short form with its verdicts, its commands, and its stored records.

Rounding errors of a recursion with factor 1 / .999 reach the size of the numbers themselves after
36,000 events, so cheap learners that forget take more.
"""

import json

import pytest
from typer.testing import CliRunner

from benchmarks.endurance.cell import Cell, Run
from benchmarks.endurance.commands import DOCUMENT, app
from benchmarks.endurance.digest import digest
from benchmarks.endurance.learners import LEARNERS
from benchmarks.endurance.plan import chosen, planned
from benchmarks.endurance.store import Store
from benchmarks.endurance.tables import all_tables
from benchmarks.endurance.verdict import verdict
from benchmarks.quality.documents import with_tables

SHORT = (
    Cell("fast", "smooth", 40_000),
    *(Cell(learner, "heavy-tailed", 3_000) for learner in ("sampled", "exact")),
)
LONGER = (
    Cell("ridge", "collinear", 10_000),
    Cell("compress", "heavy-tailed", 3_000),
    *(
        Cell(learner, "heavy-tailed", 3_000)
        for learner in ("block", "full", "growing-pool", "averaged")
    ),
    Cell("ridge-forgetting", "one-hot", 40_000),
    Cell("accurate", "heavy-tailed", 6_000),
    Cell("pool", "collinear", 10_000),
    *(Cell("fast", stream, 60_000) for stream in ("still", "one-hot", "bursting")),
    *(Cell("ridge-forgetting", stream, 50_000) for stream in ("smooth", "still")),
    Cell("accurate", "smooth", 50_000),
    *(Cell("accurate", stream, 6_000) for stream in ("still", "one-hot")),
    *(Cell("classifier", stream, 10_000) for stream in ("still", "one-hot", "collinear")),
    Cell("pool", "smooth", 20_000),
)
SMALL = ["--learner", "fast", "--stream", "smooth", "--events", "5000"]


@pytest.mark.parametrize(
    "cell",
    [*SHORT, *(pytest.param(cell, marks=pytest.mark.thorough) for cell in LONGER)],
    ids=lambda cell: f"{cell.learner}-{cell.stream}",
)
def test_a_learner_lasts(cell, tmp_path):
    """Finite predictions, errors that do not rise where nothing changes, flat memory."""
    run = Run(cell, tmp_path)
    run.take(cell.events)
    found = verdict(cell, run.figures())
    assert found.passes, "; ".join(reason for reason in found if reason)


def record(**changes):
    decades = [
        {"end": end, "mean": mean, "median": mean, "base_mean": 2.0, "base_median": 2.0}
        for end, mean in ((100, 0.1), (1_000, 1.0), (10_000, 0.8), (100_000, 0.7))
    ]
    good = {
        "n_finite": 1_000_000,
        "first_not_finite": None,
        "n_reset": 0,
        "decades": decades,
        "memory": [[n, 200.0, 5_000] for n in range(10_000, 1_000_001, 10_000)],
        "state_bytes": [[n, 1_000] for n in range(100_000, 1_000_001, 100_000)],
        "resumed": [],
    }
    return good | changes


def test_verdicts():
    """A record fails for each reason: a prediction, a part that broke, an error that rose where
    nothing changes, memory and a state that grew."""
    cell = Cell("fast", "smooth", 1_000_000)
    assert verdict(cell, record()).passes
    found = verdict(cell, record(n_finite=999_999, first_not_finite=7))
    assert found.finite == "1 not finite, the first at event 7"
    assert verdict(cell, record(n_reset=2)).resets == "2 parts reset"
    risen = [*record()["decades"][:-1], record()["decades"][-1] | {"median": 0.89}]
    assert verdict(cell, record(decades=risen)).rising
    assert verdict(cell._replace(stream="drifting"), record(decades=risen)).passes
    memory = [[n, 200.0 + 8e-6 * n, 5_000] for n in range(10_000, 1_000_001, 10_000)]
    assert verdict(cell, record(memory=memory)).memory
    dip = [[n, 205.0 if n == 200_000 else 214.0, 5_000] for n in range(50_000, 1_000_001, 50_000)]
    assert verdict(cell, record(memory=dip)).passes  # what was given back and taken again
    grown = [[n, 1_000 + n // 20_000] for n in range(100_000, 1_000_001, 100_000)]
    assert "state grew" in verdict(cell, record(state_bytes=grown)).memory


def test_a_profile_does_not_date_the_records_of_others():
    """Records depend on the modules that run, not on those that a module names for types only."""
    digests = {digest(LEARNERS[name].roots) for name in ("accurate", "fast", "classifier", "ridge")}
    assert len(digests) == 4


def test_an_interrupted_run_goes_on_from_its_snapshot(tmp_path):
    """Its errors are those of a run that was not interrupted, to the last digit."""
    cell = Cell("fast", "one-hot", 3_000)
    whole = Run(cell, tmp_path / "whole")
    whole.take(3_000)
    killed = Run(cell, tmp_path / "killed", snapshot_every=1_000)
    killed.take(2_500)
    resumed = Run(cell, tmp_path / "killed", snapshot_every=1_000)
    assert resumed.n == 2_000
    resumed.take(1_000)
    assert resumed.figures()["decades"] == whole.figures()["decades"]
    assert resumed.figures()["resumed"] == [2_000]


def invoke(*arguments):
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.thorough
def test_run_stores_a_cell_once_and_check_judges_it(tmp_path, monkeypatch):
    """A current record is not run again; a record that fails, or an old one, fails `check`."""
    monkeypatch.chdir(tmp_path)  # snapshots lie in out/
    results = ["--results", str(tmp_path)]
    assert invoke("check", *SMALL, *results).exit_code == 1
    first = invoke("run", *SMALL, *results)
    assert "1 of 1 cells: fast on smooth: passes" in first.output, first.output
    assert "cells:" not in invoke("run", *SMALL, *results).output
    assert invoke("check", *SMALL, *results).exit_code == 0

    file = tmp_path / "fast.json"
    stored = json.loads(file.read_text())
    stored["cells"][0]["n_finite"] -= 1
    stored["cells"][0]["code"] = "old"
    file.write_text(json.dumps(stored))
    bad = invoke("check", *SMALL, *results)
    assert bad.exit_code == 1
    assert "no record of the present code; 1 not finite" in bad.output
    assert invoke("run", "--stream", "smoth", *results).exit_code == 2


def test_stored_records():
    """They are of planned cells, and the document shows them. After storing records, run: python -m
    benchmarks.endurance report."""
    assert set(Store()) <= set(planned())
    assert {cell.events for cell in chosen(("fast",), ("smooth",))} == {1_000_000, 10_000_000}
    assert {cell.learner for cell in planned()} == set(LEARNERS)
    text = DOCUMENT.read_text("utf-8")
    assert "endurance:overview:begin" in text
    assert with_tables(text, all_tables(Store()), "endurance") == text
