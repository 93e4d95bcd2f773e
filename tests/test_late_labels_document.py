"""docs/late_labels.md does what it says."""

import json
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest
from support.command_line import COMMAND, environment

from iln_stream.service import Settings
from iln_stream.service.labels import OF_LABELS, settings_of_labels

PAGE = (Path(__file__).parents[1] / "docs" / "late_labels.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## Labels on a topic of their own\n")[2].partition("\n## ")[0]
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)
TOML = [text for language, text in BLOCKS if language == "toml"]


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """Run the page's commands in one folder with its settings; return folder and outputs."""
    folder = tmp_path_factory.mktemp("late")
    (folder / "learn.toml").write_text(TOML[0], encoding="utf-8")
    outputs = []
    for language, text in BLOCKS:
        if language != "sh":
            continue
        command = text.replace("iln-stream ", f"{shlex.join(COMMAND)} ")
        done = subprocess.run(
            ["bash", "-e", "-c", command], cwd=folder, env=environment(COLUMNS="200"),
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout + done.stderr)
    return folder, outputs


def test_two_topics_are_joined(said):
    """The page's orders are predicted, and the three deliveries learned."""
    folder, outputs = said
    assert "4 events, 0 dead letters" in outputs[1]
    assert "4, 3 of them learned" in outputs[1]
    assert "waiting: 1 events and 0 labels" in outputs[1]
    assert re.search(r"waiting events, labels │? ?1, 0 ", " ".join(outputs[1].split()))
    predictions = map(json.loads, (folder / "predictions.jsonl").read_text().splitlines())
    assert [each["id"] for each in predictions] == ["o-1", "o-2", "o-3", "o-4"]


def test_the_snapshot_shows_both_logs(said):
    """`inspect` shows how far the log of labels was read."""
    _, outputs = said
    shown = " ".join(outputs[1].split())
    assert re.search(r"next offset │? ?4 ", shown)
    assert re.search(r"labels: next offset │? ?3 ", shown)


def test_five_settings():
    """Beside the source, five settings are enough."""
    assert len(tomllib.loads(TOML[0])) == 1 + 5


def test_settings_of_labels():
    """The page's settings of labels are valid, and it names all that there are."""
    own = settings_of_labels(Settings(**tomllib.loads(TOML[1])))
    assert (own.id_field, own.target, own.bootstrap) == (
        "order_id", "result.minutes", "other-broker:9092",
    )  # fmt: skip
    assert not [name for name in OF_LABELS if name not in PAGE and "registry" not in name]
