"""docs/late_labels.md does what it says."""

import json
import re
import tomllib

import pytest
from support.document import DOCS, blocks, run_shell_blocks

from iln_stream.service import Settings
from iln_stream.service.streams import OF_LABELS, settings_of_labels

PAGE = (DOCS / "late_labels.md").read_text(encoding="utf-8")
_, *TOML = blocks("late_labels.md", "toml")  # the first is of one topic


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """Run the page's commands in one folder with its settings; return folder and outputs."""
    folder = tmp_path_factory.mktemp("late")
    (folder / "learn.toml").write_text(TOML[0], encoding="utf-8")
    return folder, run_shell_blocks("late_labels.md", folder)


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
