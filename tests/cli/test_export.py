"""`iln-stream export`: a snapshot's learner as a network."""

from pathlib import Path

import pytest

from iln_stream import ShrinkingGradient
from iln_stream.features import Erf
from iln_stream.frozen import FrozenNetwork, freeze
from iln_stream.snapshots import Snapshot, learner_of, learner_state, read_snapshot

GOLDEN = Path(__file__).parents[1] / "snapshots" / "golden" / "0.1.0-pool.snapshot"


def test_predicts_as_the_learner(command, tmp_path):
    """The exported network predicts as the saved learner."""
    done = command("export", str(GOLDEN), "network.npz")
    assert done.code == 0, done.err
    assert "network learned from golden, before offset 60 of partition 0" in done.err
    network = FrozenNetwork.load(tmp_path / "network.npz")
    learner = learner_of(read_snapshot(GOLDEN).state["learner"], allow_pickle=False)
    for x in ({"a": 0.1, "b": -0.2, "c": 0.3}, {"a": -0.4}):
        assert network.predict_one(x) == freeze(learner).predict_one(x)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere", "n.npz"], "there is no snapshot in nowhere: name a snapshot"),
        ([str(GOLDEN), "network.txt"], "give a name that ends in .npz or .onnx"),
        ([str(GOLDEN), "nowhere/n.npz"], "can't write nowhere/n.npz: No such file"),
    ],
)
def test_errors(command, arguments, said):
    """Errors are one line without traceback."""
    done = command("export", *arguments)
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err


class OfSomeone(ShrinkingGradient):
    """A user's class without a state."""


@pytest.mark.parametrize("kind", ["part", "pickle"])
def test_parts_that_are_not_found(kind, command, tmp_path, monkeypatch):
    """An error names a user's class that this process can't import."""
    if kind == "part":
        state = learner_state(ShrinkingGradient(Erf(), seed=1), allow_pickle=False)
        state["parameters"]["features"]["class"] = "OfSomeone"
        said = "features is a 'OfSomeone' in the state, which this release doesn't know"
    else:
        state = learner_state(OfSomeone(seed=1), allow_pickle=True)
        monkeypatch.delattr(f"{__name__}.OfSomeone")
        said = "the snapshot's pickle needs code that is not found: Can't get attribute"
    golden = read_snapshot(GOLDEN)
    with (tmp_path / "own.snapshot").open("wb") as file:
        Snapshot(golden.header, golden.state | {"learner": state}).write(file)
    done = command("export", "own.snapshot", "network.npz", "--snapshot-pickle")
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err
