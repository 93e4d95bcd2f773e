"""`iln-stream inspect`: the contents of snapshots."""

import shutil
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "snapshots" / "golden" / "0.1.0-pool.snapshot"


def test_file(command):
    """A snapshot's position, learner, counts and versions are shown."""
    done = command("inspect", str(GOLDEN))
    assert done.code == 0, done.err
    for told in (
        "partitions",
        "1b4e28ba-2fa1-11d2-883f-0016d3cca427",
        "next offset",
        "ScaledTarget(Pipeline(WinsorisedScaler | ShrinkingGradient))",
        "numpy 2",
    ):
        assert told in done.out


def test_folder(command, tmp_path):
    """For a folder, each learner's newest snapshot is shown."""
    for topic, offset in (("a-0", 50), ("a-0", 60), ("b-1", 60)):
        (tmp_path / topic).mkdir(exist_ok=True)
        shutil.copy(GOLDEN, tmp_path / topic / f"000001-{offset:020}.snapshot")
    done = command("inspect", str(tmp_path))
    assert done.code == 0, done.err
    assert done.out.count("topic id") == 2


@pytest.mark.parametrize("name", ["nothing", "."])
def test_nothing_there(command, name):
    """A path without snapshots is an error."""
    done = command("inspect", name)
    assert done.code == 2
    assert "there is no snapshot in" in done.err


def test_corrupt_file(command, tmp_path):
    """A corrupt file is an error."""
    (tmp_path / "bad.snapshot").write_bytes(GOLDEN.read_bytes()[:-3])
    done = command("inspect", "bad.snapshot")
    assert done.code == 2
    assert "bad.snapshot: its checksum is not that of its contents" in done.err
