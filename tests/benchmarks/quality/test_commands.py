"""The commands, as they are typed."""

import json

import pytest
from typer.testing import CliRunner

from benchmarks.quality.commands import app
from benchmarks.quality.plan import cells

SMALL = ["--learner", "river-bayesian-linear", "--stream", "airline-passengers"]


def invoke(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_check_passes_on_what_run_stored_and_fails_on_what_was_tampered_with(tmp_path):
    """`check` exits with 0 where nothing changed and with 1 where a stored ratio is not met."""
    results = ["--results", str(tmp_path)]
    assert invoke("missing", *SMALL, *results).output == "river-bayesian-linear on ten: 1\n"
    assert invoke("run", *SMALL, *results).exit_code == 0
    assert invoke("missing", *SMALL, *results).output == ""
    same = invoke("check", *SMALL, *results)
    assert same.exit_code == 0, same.output
    assert "1 cells compared, 0 figures changed" in same.output

    file = tmp_path / "river-bayesian-linear.json"
    stored = json.loads(file.read_text())
    stored["cells"][0]["ratio"] /= 1.05
    file.write_text(json.dumps(stored))
    changed = invoke("check", *SMALL, *results)
    assert changed.exit_code == 1
    assert "worse: river-bayesian-linear on airline-passengers" in changed.output


def test_run_does_not_repeat_what_is_stored(tmp_path):
    """A second run adds nothing; `--again` measures anew."""
    results = ["--results", str(tmp_path)]
    invoke("run", *SMALL, *results)
    file = tmp_path / "river-bayesian-linear.json"
    file.write_text(file.read_text().replace('"mae": ', '"mae": 1'))
    kept = file.read_text()
    invoke("run", *SMALL, *results)
    assert file.read_text() == kept
    invoke("run", "--again", *SMALL, *results)
    assert file.read_text() != kept


def test_run_completes_cells_that_lack_the_rmse(tmp_path):
    """Cells of older versions get their RMSE without `--again`."""
    results = ["--results", str(tmp_path)]
    invoke("run", *SMALL, *results)
    file = tmp_path / "river-bayesian-linear.json"
    complete = json.loads(file.read_text())["cells"][0]
    older = {name: value for name, value in complete.items() if "rmse" not in name}
    file.write_text(json.dumps({"cells": [older]}))
    invoke("run", *SMALL, *results)
    assert json.loads(file.read_text())["cells"][0]["rmse_ratio"] == complete["rmse_ratio"]


def test_check_of_nothing_fails(tmp_path):
    """An empty store is no pass."""
    assert invoke("check", *SMALL, "--results", str(tmp_path)).exit_code == 1


def test_misspelt_ids_are_refused(tmp_path):
    """A pattern that matches nothing does not pass for a finished run."""
    answer = invoke("run", "--stream", "freidman", "--results", str(tmp_path))
    assert answer.exit_code != 0
    assert "freidman" in answer.output


def test_list_names_everything():
    """What can be asked for is listed."""
    output = invoke("list").output
    assert "held-out" in output
    assert "vw-cubic-nn" in output


@pytest.mark.parametrize(
    ("learners", "streams", "n"),
    [
        (("iln-accurate",), ("mv",), 6),  # five seeds, and the intervals
        (("river-knn",), ("ten",), 10),
        (("iln-classifier",), ("classes",), 30),
        (("river-knn",), ("classes",), 0),  # a regressor
        (("river-ewa*",), ("mv", "kin8nm"), 3),  # with lags it is slow, and runs on the ten only
        (("*-knn*",), ("m*",), 10),  # CapyMOA's three and River's two, with lags, on two streams
    ],
)
def test_plan(learners, streams, n):
    """Patterns choose cells, and a learner only meets streams of its task."""
    found = list(cells(learners, streams))
    assert len(set(found)) == len(found) == n
