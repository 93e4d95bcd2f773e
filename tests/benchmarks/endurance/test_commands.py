"""The commands, as they are typed."""

import json

import pytest
from typer.testing import CliRunner

from benchmarks.endurance.commands import app
from benchmarks.endurance.plan import chosen, planned

SMALL = ["--learner", "fast", "--stream", "smooth", "--events", "5000"]


def invoke(*arguments):
    return CliRunner().invoke(app, list(arguments))


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


@pytest.mark.parametrize("arguments", [["--stream", "smoth"], ["--events", "1500"]])
def test_misspelt_ids_and_odd_numbers_are_refused(arguments, tmp_path):
    """A choice without cells does not pass for a finished run."""
    assert invoke("run", *arguments, "--results", str(tmp_path)).exit_code == 2


def test_the_plan_has_a_million_events_of_eight_kinds_and_ten_million_of_one():
    """All learners, except for those that keep all events, at 1e6; one cell of 1e7."""
    cells = list(planned())
    assert len(set(cells)) == len(cells)
    assert sum(cell.events == 10_000_000 for cell in cells) == 1
    assert sum(cell.learner == "accurate" and cell.events == 1_000_000 for cell in cells) == 8
    assert {cell.events for cell in chosen(("fast",), ("smooth",))} == {1_000_000, 10_000_000}
    assert len(list(chosen(("fast",), ("smooth",), 5_000))) == 1
