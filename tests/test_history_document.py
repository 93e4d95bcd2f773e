"""docs/history.md does what it says."""

import json
from pathlib import Path

import pytest
from support.document import blocks, run_shell_blocks
from support.saved_state import saved


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Run the page's commands in one folder; return the outputs."""
    folder = tmp_path_factory.mktemp("history")
    (settings,) = blocks("history.md", "toml")
    (folder / "learn.toml").write_text(settings)
    return folder, run_shell_blocks("history.md", folder)


def test_history_then_log(said: tuple[Path, list[str]]) -> None:
    """The history is learned and shown, and the run then predicts the log alone."""
    folder, outputs = said
    assert "history (history.csv): 4 events, 0 dead letters" in outputs[2]
    assert "the log goes on at offset 0 of log-events:0" in outputs[2]
    assert "history.csv: 4 events, 4 of them learned" in outputs[2]
    assert "\n2 events, 0 dead letters" in outputs[2]
    lines = (folder / "predictions.jsonl").read_text().splitlines()
    first, second = [json.loads(line)["y_pred"] for line in lines]
    assert 9.0 <= second <= first <= 12.5  # not the 0 of a new learner


def test_in_one_command(said: tuple[Path, list[str]]) -> None:
    """`run --warm-start` ends with the same learner as both commands."""
    folder, outputs = said
    assert "history (history.csv): 4 events" in outputs[3]
    two, one = saved(folder / "state", "log-events"), saved(folder / "both", "log-events")
    assert two.learner == one.learner
    assert two.header.configuration == one.header.configuration
    assert two.header.positions == one.header.positions == {("log-events", 0): 2}


def test_fields_of_their_own(said: tuple[Path, list[str]]) -> None:
    """Files with other names and another separator are learned."""
    _, outputs = said
    assert "history (export.csv): 2 events, 0 dead letters" in outputs[4]
