"""`iln_stream.load`: the learner that a run has saved."""

import json
import logging
import runpy
from pathlib import Path

import pytest
from river import linear_model

import iln_stream
from iln_stream.errors import SnapshotError
from iln_stream.snapshots import SnapshotFolder, SnapshotId, learner_state

FOLDER = Path(__file__).parent / "golden"
GOLDEN = sorted(FOLDER.glob("*.snapshot"))
make = runpy.run_path(str(FOLDER / "make.py"))
event = make["event"]
INPUTS = [event(number)[0] for number in range(100, 120)]


def predictions(learner):
    return [learner.predict_one(x) for x in INPUTS]


def taught(n_events=60):
    model = iln_stream.InfiniteLayerRegressor(profile="fast", seed=1)
    for number in range(n_events):
        model.learn_one(*event(number))
    return model


@pytest.fixture
def save(tmp_path, make):
    """Saves a learner as a run does; returns its folder."""

    def save(model, name="events-0", next_offset=60):
        folder = SnapshotFolder(tmp_path / "state" / name)
        folder.path.mkdir(parents=True, exist_ok=True)
        snapshot = make(epoch=1, next_offset=next_offset)
        state = {**snapshot.state, "learner": learner_state(model, allow_pickle=True)}
        folder.write(snapshot._replace(state=state))
        return folder.path

    return save


@pytest.mark.parametrize("kind", ["file", "folder", "folder above", "text"])
def test_predicts_as_the_saved_learner(kind, save, tmp_path):
    """By whichever path, the learner predicts to the last bit what the saved one does, and goes on
    as it would."""
    model = taught()
    folder = save(model)
    path = {
        "file": folder / SnapshotId(1, 60).name,
        "folder": folder,
        "folder above": folder.parent,
        "text": str(folder),
    }[kind]
    loaded = iln_stream.load(path)
    assert predictions(loaded) == predictions(model)
    for learner in (loaded, model):
        learner.learn_one(*event(60))
    assert predictions(loaded) == predictions(model)


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_of_earlier_releases(file):
    """A snapshot of each release is loaded, and predicts what it did then."""
    learner = iln_stream.load(file)
    make["learn"](learner, range(60, 90))
    found = make["predictions"](learner)
    # Another CPU type may round single precision otherwise; a misread state is off by far more.
    assert found == pytest.approx(json.loads(file.with_suffix(".json").read_text()), rel=1e-4)


def test_newest_readable(save, caplog):
    """Of a folder's snapshots the newest is loaded, and where it is damaged the one before."""
    save(taught(50), next_offset=50)
    folder = save(taught(60), next_offset=60)
    assert predictions(iln_stream.load(folder)) == predictions(taught(60))
    newest = folder / SnapshotId(1, 60).name
    newest.write_bytes(newest.read_bytes()[:-1])
    with caplog.at_level(logging.ERROR):
        assert predictions(iln_stream.load(folder)) == predictions(taught(50))
    assert "is corrupt" in caplog.text


def test_while_a_run_has_the_folder(save):
    """A run that has the folder locked is not in the way, and nothing in the folder changes."""
    path = save(taught())
    folder = SnapshotFolder(path)
    folder.lock()
    before = {file.name: (file.stat().st_mtime_ns, file.stat().st_size) for file in path.iterdir()}
    iln_stream.load(path)
    after = {file.name: (file.stat().st_mtime_ns, file.stat().st_size) for file in path.iterdir()}
    folder.unlock()
    assert after == before


def test_run_replaces_the_snapshot_meanwhile(save, monkeypatch):
    """Where a run deletes the snapshot that was about to be read, its newer one is loaded."""
    folder = save(taught(50), next_offset=50)
    read = SnapshotFolder.read

    def too_late(self, place):
        if place.next_offset == 50:
            save(taught(60), next_offset=60)
            (folder / place.name).unlink()
        return read(self, place)

    monkeypatch.setattr(SnapshotFolder, "read", too_late)
    assert predictions(iln_stream.load(folder)) == predictions(taught(60))


def test_several_learners(save, tmp_path):
    """A folder of several learners' folders is refused, and the message lists them."""
    folders = [save(taught(1), name) for name in ("events-0", "events-1")]
    with pytest.raises(SnapshotError, match="several learners: name one of") as refused:
        iln_stream.load(tmp_path / "state")
    assert str(refused.value).endswith(", ".join(map(str, folders)))


def test_no_snapshot(tmp_path):
    """A path without a snapshot is named, with what to give instead."""
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(SnapshotError, match=r"there is no snapshot in .*: name a snapshot"):
            iln_stream.load(path)


def test_another_file(tmp_path):
    """A file that is no snapshot, such as an embedded log, is refused with what to name instead."""
    (tmp_path / "log.db").write_bytes(b"SQLite format 3")
    with pytest.raises(SnapshotError, match=r"log\.db: .*; name a file \*\.snapshot that .*folder"):
        iln_stream.load(tmp_path / "log.db")


def test_all_damaged(tmp_path):
    """A folder whose only snapshot is damaged raises, and does not search for ever."""
    (tmp_path / SnapshotId(1, 60).name).write_bytes(b"?")
    with pytest.raises(SnapshotError, match=r"no snapshot in .* can be read"):
        iln_stream.load(tmp_path)


def test_pickles_have_to_be_allowed(save):
    """A pickle is read only with allow_pickle, which the message names."""
    folder = save(linear_model.LinearRegression())
    with pytest.raises(SnapshotError, match="allow_pickle=True"):
        iln_stream.load(folder)
    assert isinstance(iln_stream.load(folder, allow_pickle=True), linear_model.LinearRegression)
