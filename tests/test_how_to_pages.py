"""kafka.md, keys.md, recovery.md and several_targets.md of docs/ do what they say."""

import json
import re
from pathlib import Path

import pytest
from support.document import DOCS, blocks, run_shell_blocks
from support.embedded_log import append, values

from iln_stream.learners.frozen import FrozenRegressor
from iln_stream.snapshots import snapshot_at


def run_python(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Run the page's Python block in a folder; return its names."""
    (text,) = blocks(page, "python")
    names: dict[str, object] = {}
    monkeypatch.chdir(folder)
    exec(compile(text, page, "exec"), names)
    return names


def test_one_model_over_all_partitions(tmp_path: Path) -> None:
    """One learner has the records of all twelve partitions, as kafka.md says."""
    (said,) = run_shell_blocks("kafka.md", tmp_path)
    assert "1200 events, 0 dead letters" in said
    header = snapshot_at(tmp_path / "state").header
    assert sorted(p.partition for p in header.positions) == list(range(12))
    assert min(header.positions.values()) > 0
    assert header.next_offset == 1200


def test_a_model_for_each_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run of keys.md learns a model for each customer, and `inspect` shows one."""
    events = [
        {"x": {"customer": f"c{n % 20}", "price": n % 7}, "y": n % 20 + n % 7} for n in range(400)
    ]
    append(tmp_path / "log.db", (json.dumps(each).encode() for each in events))
    text = (DOCS / "keys.md").read_text(encoding="utf-8")
    ends = text.replace("--snapshots snapshots\n", "--snapshots snapshots --stop-at-end "
                        "--metrics-port 0\n")  # fmt: skip
    (tmp_path / "docs").mkdir()
    monkeypatch.setattr("support.document.DOCS", tmp_path / "docs")
    (tmp_path / "docs" / "keys.md").write_text(ends, encoding="utf-8")
    (said,) = run_shell_blocks("keys.md", tmp_path)
    assert "400 events, 0 dead letters" in said
    assert re.search(r"c17\b", said)
    names = run_python("keys.md", tmp_path, monkeypatch)
    assert names["model"].predict_one({"customer": "c17", "price": 9.5}) != 0.0  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def recovered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder in which the commands of recovery.md ran, and what they said."""
    folder = tmp_path_factory.mktemp("recovery")
    (said,) = run_shell_blocks("recovery.md", folder)
    return folder, said


def test_which_data_made_a_model(recovered: tuple[Path, str]) -> None:
    """Each row that the table names is in `inspect`; the card and the prediction name the same
    stream and model."""
    folder, said = recovered
    page = (DOCS / "recovery.md").read_text(encoding="utf-8")
    table = page[page.index("| question |") :].partition("\n\n")[0]
    *questions, _, _ = table.splitlines()[2:]  # the last two are not of `inspect`
    shown = {name for line in questions for name in re.findall("`([^`]+)`", line)}
    for name in shown - {"inspect", "history: files", "running accuracy"}:
        assert f" {name} " in said, name
    card = FrozenRegressor.load(folder / "model.npz").card
    assert card["data"]["next_offsets"] == {"0": 500}
    last = json.loads(values(folder / "friedman.db", "predictions")[-1])
    assert (last["stream"], last["offset"]) == (card["data"]["stream"], 499)
    assert {"name", "version"} <= last["model"].keys()


def test_a_snapshot_in_python(
    recovered: tuple[Path, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The loaded learner has learned all events, and explains by the inputs."""
    run_python("recovery.md", recovered[0], monkeypatch)
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("500 ")
    assert set(re.findall(r"'(\w+)'", second)) <= {str(i) for i in range(10)}


def test_several_targets_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The chain predicts both targets far better than their means, which are off by over 1."""
    names = run_python("several_targets.md", tmp_path, monkeypatch)
    errors = {name: each.get() for name, each in names["errors"].items()}  # type: ignore[attr-defined]
    assert errors["load"] < 1.0
    assert errors["price"] < 0.5


def test_several_targets_in_the_service(tmp_path: Path) -> None:
    """Each run learns its target, and sees neither as an input."""
    (said,) = run_shell_blocks("several_targets.md", tmp_path)
    assert said.count("600 events, 0 dead letters") == 2
    for target in ("load", "price"):
        snapshot = snapshot_at(tmp_path / f"state-{target}")
        assert snapshot.header.next_offset == 600
        prediction = json.loads(values(tmp_path / "power.db", target)[-1])
        assert prediction["model"]["name"] == target
