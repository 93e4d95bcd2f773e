"""`iln_stream.save`, and `iln_stream.load` of its files."""

import pytest
from river import linear_model

import iln_stream
from iln_stream.errors import StateError


def taught():
    """Return a learner in a pipeline that has learned a few events."""
    learner = iln_stream.ShrinkingGradient(seed=1)
    model = iln_stream.ScaledTarget(iln_stream.WinsorisedScaler() | learner)
    for t in range(50):
        model.learn_one({"a": t % 7}, float(t % 5))
    return model


def test_it_goes_on_bit_for_bit(tmp_path):
    """The loaded model learns and predicts as the saved one, and replaces an earlier file."""
    model, path = taught(), tmp_path / "model.npz"
    path.write_bytes(b"an earlier file")
    iln_stream.save(model, str(path))
    again = iln_stream.load(path)
    for each in (model, again):
        each.learn_one({"a": 3.0}, 1.5)
    assert again.predict_one({"a": 2.5}) == model.predict_one({"a": 2.5})
    assert [file.name for file in tmp_path.iterdir()] == ["model.npz"]


def test_a_model_without_a_state(tmp_path):
    """It is refused by name, and an earlier file stays."""
    path = tmp_path / "model.npz"
    iln_stream.save(taught(), path)
    before = path.read_bytes()
    with pytest.raises(StateError, match="LinearRegression has no state"):
        iln_stream.save(linear_model.LinearRegression(), path)
    assert path.read_bytes() == before


def test_a_damaged_file(tmp_path):
    """The error names the file."""
    path = tmp_path / "model.npz"
    iln_stream.save(taught(), path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(StateError, match=r"model\.npz: the state's bytes can't be read"):
        iln_stream.load(path)
