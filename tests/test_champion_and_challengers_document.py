"""docs/champion_and_challengers.md does what it says."""

import json
from pathlib import Path

import pytest
from support.document import DOCS, blocks, run_shell_blocks
from support.embedded_log import values
from support.saved_state import saved

from iln_stream.learners.contest.contender import POLICIES, contest_metrics

PAGE = "champion_and_challengers.md"


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Run the page's commands in one folder; return the outputs."""
    folder = tmp_path_factory.mktemp("challengers")
    (settings,) = blocks(PAGE, "toml")
    (folder / "learn.toml").write_text(settings)
    return folder, run_shell_blocks(PAGE, folder)


def test_a_promotion(said: tuple[Path, list[str]]) -> None:
    """The commands learn, show the contenders, and promote one that then predicts."""
    folder, outputs = said
    for name in ("pool", "linear", "small"):
        assert f"contender: {name}" in outputs[1]
    assert "promotion of linear appended: partition 0, offset 3000" in outputs[2]
    found = [json.loads(value) for value in values(folder / "log.db", "predictions")]
    assert [each["contender"] for each in found] == ["pool"] * 3000 + ["linear"] * 3000
    (printed,) = map(json.loads, blocks(PAGE, "json"))
    assert printed.keys() == found[-1].keys()
    assert (printed["offset"], printed["contender"]) == (found[-1]["offset"], "linear")
    assert saved(folder / "state", "log-events").n_dead_letters == 0


def test_tables_name_everything() -> None:
    """The page names each metric of a contest and each failure policy."""
    text = (DOCS / PAGE).read_text("utf-8")
    assert not [each.name for each in contest_metrics(None) if f"`{each.name}" not in text]
    assert not [policy for policy in POLICIES if f"| `{policy}`" not in text]


def test_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    """The example runs as printed."""
    (example,) = blocks(PAGE, "python")
    exec(example, {})
    assert "'mixture'" in capsys.readouterr().out
