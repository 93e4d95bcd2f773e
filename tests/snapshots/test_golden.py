"""Snapshots of every release are read by this one."""

import json
import runpy
from pathlib import Path

import pytest

from iln_stream import __version__
from iln_stream.snapshots import learner_of, read_snapshot

FOLDER = Path(__file__).parent / "golden"
GOLDEN = sorted(FOLDER.glob("*.snapshot"))
event = runpy.run_path(str(FOLDER / "make.py"))["event"]


def test_this_release_has_its_own():
    """Whoever makes a release leaves its snapshots for the releases to come."""
    assert {file.stem.split("-")[1] for file in GOLDEN if file.stem.startswith(__version__)} == {
        "accurate",
        "fast",
        "pool",
        "ridge",
        "sampled",
    }


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_goes_on_as_in_its_release(file):
    """Restored from an old file and taught more, a learner predicts what it did then."""
    snapshot = read_snapshot(file)
    assert snapshot.header.next_offset == 60
    assert snapshot.header.topic_id == "1b4e28ba-2fa1-11d2-883f-0016d3cca427"
    assert snapshot.state["recent_ids"] == {"ids": ["a", "b"]}
    learner = learner_of(snapshot.state["learner"], allow_pickle=False)
    for number in range(60, 90):
        learner.learn_one(*event(number))
    expected = json.loads(file.with_suffix(".json").read_text())
    # Another CPU type may round single precision otherwise; a misread state is off by far more.
    found = [learner.predict_one(event(number)[0]) for number in range(90, 95)]
    assert found == pytest.approx(expected, rel=1e-4)
