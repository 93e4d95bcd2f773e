"""`iln_stream.load` of the learner that a run or `iln_stream.save` has saved."""

import datetime as dt
import subprocess
import sys

import pytest
from river import linear_model

import iln_stream
from iln_stream.errors import SnapshotError, StateError
from iln_stream.learners import state_of
from iln_stream.snapshots import SnapshotFolder, SnapshotId, learner_state
from iln_stream.state import to_bytes


def event(number):
    a, b = number % 7 / 7, number % 5 / 5
    return {"a": a, "b": b}, 10 * a - 4 * b


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


def test_predicts_as_the_saved_learner(save):
    """By whichever path, the learner predicts to the last bit what the saved one does, and goes on
    as it would."""
    model = taught()
    folder = save(model)
    for path in (folder / SnapshotId(1, 60).name, folder, folder.parent, str(folder)):
        loaded, further = iln_stream.load(path), taught()
        assert predictions(loaded) == predictions(model)
        for learner in (loaded, further):
            learner.learn_one(*event(60))
        assert predictions(loaded) == predictions(further)


def test_while_a_run_has_the_folder(save):
    """A run that has the folder locked is not in the way, and nothing in the folder changes."""
    path = save(taught())
    folder = SnapshotFolder(path)

    def files():
        return {each.name: (each.stat().st_mtime_ns, each.read_bytes()) for each in path.iterdir()}

    folder.lock()
    before = files()
    iln_stream.load(path)
    assert files() == before
    folder.unlock()


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


@pytest.fixture
def saved(tmp_path):
    """A pipeline that has learned some events, and its file."""
    learner = iln_stream.ShrinkingGradient(seed=1)
    model = iln_stream.ScaledTarget(iln_stream.WinsorisedScaler() | learner)
    for number in range(50):
        model.learn_one(*event(number))
    path = tmp_path / "model.npz"
    path.write_bytes(b"an earlier file")
    iln_stream.save(model, str(path))
    return model, path


def test_a_saved_model_goes_on_bit_for_bit(saved):
    """The loaded model learns and predicts as the saved one; its file replaces an earlier one."""
    model, path = saved
    again = iln_stream.load(path)
    for each in (model, again):
        each.learn_one(*event(50))
    assert predictions(again) == predictions(model)
    assert [file.name for file in path.parent.iterdir()] == ["model.npz"]


def test_a_pipeline_of_records_goes_on_bit_for_bit(tmp_path):
    """With its arguments, counts and keys, also in a process that has not imported its steps."""
    path = tmp_path / "model.npz"
    means = {"mean": iln_stream.Aggregate("mean", of="temp", by=("zip",), over=3600.0)}
    inputs = iln_stream.AggregateInputs(means, "at", 1e5) + iln_stream.RecordInputs(
        {"zip": "category"}, null_values=["-"], time_field="at", time_features=["hour"],
        crosses=["zip*sky"],
    )  # fmt: skip
    model = inputs | iln_stream.InfiniteLayerRegressor("fast", seed=1)
    records = [
        {"at": dt.datetime(2026, 1, 1 + n // 24, n % 24), "zip": n % 3, "temp": n * 7 % 11 + 0.5,
         "sky": ("clear", "-", "rain")[n % 3]} for n in range(60)
    ]  # fmt: skip
    for n, record in enumerate(records[:40]):
        model.learn_one(record, float(n % 5))
    y_pred = model.predict_one(records[40])
    iln_stream.save(model, path)
    code = (
        f"import datetime, iln_stream; model = iln_stream.load({str(path)!r})\n"
        f"print(model.predict_one({records[40]!r}).hex())"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split()[0] == y_pred.hex()
    again = iln_stream.load(path)
    for record in records[40:]:
        assert again.transform_one(record) == model.transform_one(record)
        assert again.predict_one(record) == model.predict_one(record)
        for each in (model, again):
            each.learn_one(record, 2.0)
    assert to_bytes(state_of(again)) == to_bytes(state_of(model))


def test_a_model_without_a_state(saved):
    """It is refused by name, with what to save instead, and an earlier file stays."""
    _, path = saved
    before = path.read_bytes()
    remedy = r"iln_stream\.save\(list\(model\.steps\.values\(\)\)\[-1\], path\)"
    with pytest.raises(StateError, match=f"LinearRegression has no state.*{remedy}"):
        iln_stream.save(linear_model.LinearRegression(), path)
    assert path.read_bytes() == before


def test_a_damaged_model(saved):
    """The error names the file."""
    _, path = saved
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(StateError, match=r"model\.npz: the state's bytes can't be read"):
        iln_stream.load(path)
