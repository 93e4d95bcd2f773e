"""Runs of cells: interrupted ones go on as if they had not been."""

import pytest

from benchmarks.endurance import cell as cells
from benchmarks.endurance.cell import Cell, Run, measured, snapshot_of
from benchmarks.endurance.learners import LEARNERS

TIMES = {"us", "events_per_s", "p999_ms", "longest_ms", "longest_at", "longest_wall_ms"}
OF_THE_PROCESS = {"memory", "resumed", "state_bytes"}


def comparable(figures):
    return {name: v for name, v in figures.items() if name not in TIMES | OF_THE_PROCESS}


@pytest.mark.parametrize("learner", ["fast", "classifier", "pool"])
def test_an_interrupted_run_goes_on_from_its_snapshot(learner, tmp_path):
    """Its errors are those of a run that was not interrupted, to the last digit."""
    cell = Cell(learner, "one-hot", 6_000)
    whole = Run(cell, tmp_path / "whole")
    whole.take(6_000)
    killed = Run(cell, tmp_path / "killed", snapshot_every=2_000)
    killed.take(5_000)
    resumed = Run(cell, tmp_path / "killed", snapshot_every=2_000)
    assert resumed.n == 4_000
    resumed.take(2_000)
    figures = resumed.figures()
    assert comparable(figures) == comparable(whole.figures())
    assert figures["resumed"] == [4_000]
    assert [n for n, _ in figures["state_bytes"]] == [2_000, 4_000, 6_000]


def test_a_snapshot_of_other_code_is_not_used(tmp_path, monkeypatch):
    """A learner that changed begins anew."""
    cell = Cell("fast", "smooth", 4_000)
    Run(cell, tmp_path, snapshot_every=1_000).take(2_000)
    monkeypatch.setattr(cells, "digest", lambda roots: "other")
    assert Run(cell, tmp_path).n == 0


def test_a_record_has_errors_times_memory_and_versions(tmp_path, monkeypatch):
    """A finished cell leaves its record and no snapshot."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cells, "PAUSES_SECONDS", 0.05)
    cell = Cell("fast", "smooth", 12_000)
    record = measured(cell)
    assert not snapshot_of(cell).exists()
    assert record["n_finite"] == 12_000
    assert record["decades"][-1]["mean"] < 0.6 * record["decades"][-1]["base_mean"]
    assert 0 < record["us"] < 1e3 * record["longest_ms"]
    assert record["machine_ms"] > 0
    assert 10_000 in [n for n, _, _ in record["memory"]]
    assert "numba 0." in record["versions"]


def test_classes_are_scored_by_their_probabilities(tmp_path):
    """The classifier's error is below that of running frequencies."""
    run = Run(Cell("classifier", "one-hot", 2_000), tmp_path)
    run.take(2_000)
    decade = run.figures()["decades"][-1]
    assert decade["mean"] < 0.5 * decade["base_mean"] < 0.5


@pytest.mark.parametrize("learner", LEARNERS)
def test_learners_are_public_and_can_be_resumed(learner, tmp_path):
    """Each takes events, and its snapshot can be read."""
    cell = Cell(learner, "heavy-tailed", 2_000)
    Run(cell, tmp_path, snapshot_every=1_000).take(1_000)
    assert Run(cell, tmp_path).n == 1_000
