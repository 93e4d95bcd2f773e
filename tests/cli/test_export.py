"""`iln-stream export`: a snapshot's learner as a file that predicts."""

import json
import socket
from pathlib import Path

import pytest
from support.command_line import python
from support.embedded_log import append

import iln_stream
from iln_stream.features import Erf
from iln_stream.learners.frozen import FrozenNetwork, FrozenRegressor, freeze
from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.loop.scores import ClassificationScores
from iln_stream.snapshots import (
    Snapshot,
    SnapshotFolder,
    learner_of,
    learner_state,
    read_snapshot,
    snapshot_at,
)

GOLDEN = Path(__file__).parents[1] / "snapshots" / "golden" / "0.2.0-pool.snapshot"
FAST = str(GOLDEN.with_name("0.2.0-fast.snapshot"))


def test_predicts_as_the_learner(command, tmp_path):
    """The exported network predicts as the saved learner."""
    done = command("export", str(GOLDEN), "network.npz").ok()
    assert "learned from golden, before offset 60 of golden:0" in done.err
    assert (tmp_path / "network.md").read_text().startswith("# Model card: network\n")
    network = FrozenNetwork.load(tmp_path / "network.npz")
    learner = learner_of(read_snapshot(GOLDEN).state["learner"], allow_pickle=False)
    for x in ({"a": 0.1, "b": -0.2, "c": 0.3}, {"a": -0.4}):
        assert network.predict_one(x) == freeze(learner).predict_one(x)


ALONE = """
import json, sys
for name in ("numba", "river", "iln_stream.kernels.jit"):
    sys.modules[name] = None  # importing it fails
from iln_stream.frozen import FrozenClassifier, FrozenRegressor
if sys.argv[1] == "classes":
    model = FrozenClassifier.load("model.npz")
    found = [list(model.predict_proba_one(x).items()) for x in json.load(sys.stdin)]
else:
    model = FrozenRegressor.load("model.npz")
    found = [model.predict_one(x) for x in json.load(sys.stdin)]
json.dump([found, model.card], sys.stdout)
"""
"""Predicts with what was exported, by NumPy alone."""


def event(t):
    """The t-th event: its inputs and its number."""
    x = {"a": t * 7 % 11 - 5.0, "b": 100.0 + t * 5 % 13, f"sky={'cd'[t % 3 > 0]}": 1.0}
    if t % 4:
        x["late"] = t % 6 - 2.5
    return x, 10.0 + x["a"] * 3 + 20.0 * ("sky=d" in x) + t % 2


@pytest.fixture(scope="module")
def queries():
    """Inputs to predict."""
    return [*(event(t)[0] for t in range(1000, 1040)), {}, {"new": 1.0, "a": 2.0}]


def run(command, folder, records, *arguments):
    """Let a run learn a log, and save the learner below `state`."""
    append(folder / "log.db", [json.dumps(each).encode() for each in records], "rides")
    log = ("--source=sqlite:log.db#rides", "--start=earliest", "--stop-at-end", "--metrics-port=0")
    command("run", *log, "--snapshots=state", *arguments).ok()


def save_classifier(folder):
    """Save a classifier that has learned 200 events below `state`."""
    model = InfiniteLayerClassifier(seed=1)
    for t in range(200):
        x, y = event(t)
        model.learn_one(x, y > 30)
    counts = {"scores": ClassificationScores().state(), "n_dead_letters": 0, "n_repeats": 0}
    state = {"learner": learner_state(model, allow_pickle=False), "counts": counts}
    (folder / "state").mkdir()
    SnapshotFolder(folder / "state").write(Snapshot(read_snapshot(GOLDEN).header, state))


def predicted_alone(folder, kind, queries):
    """Return the predictions of an export, made by NumPy alone, and its card."""
    alone = python(ALONE, kind, cwd=folder, stdin=json.dumps(queries))
    assert alone.returncode == 0, alone.stderr
    return json.loads(alone.stdout)


def test_a_regressor_predicts_alone(command, tmp_path, queries):
    """A run's learner is exported with its card, and predicts the same where no learner can be
    imported, to within 1e-5 of the target's unit."""
    run(command, tmp_path, [dict(zip("xy", event(t), strict=True)) for t in range(200)])
    done = command("export", "state", "model.npz").ok()
    assert "model.npz: learned from log-rides, before offset 200 of log-rides:0" in done.err
    found, card = predicted_alone(tmp_path, "regression", queries)
    model = iln_stream.load(tmp_path / "state")
    wanted = [model.predict_one(x) for x in queries]
    assert found == pytest.approx(wanted, rel=0.0, abs=1e-5 * model.target_unit)
    _check_card(card, tmp_path, 200)


def test_a_classifier_predicts_alone(command, tmp_path, queries):
    """Its probabilities are the same to within 1e-5."""
    save_classifier(tmp_path)
    command("export", "state", "model.npz").ok()
    found, card = predicted_alone(tmp_path, "classes", queries)
    assert card["learner"]["class"] == "InfiniteLayerClassifier"
    model = iln_stream.load(tmp_path / "state")
    for x, answer in zip(queries, found, strict=True):
        assert dict(answer) == pytest.approx(model.predict_proba_one(x), rel=0.0, abs=1e-5)


def _check_card(card, folder, n):
    """The card is that of the snapshot, in both files, without the clock, paths and hosts."""
    snapshot = snapshot_at(folder / "state")
    assert card["saved_at"] == snapshot.header.saved_at
    assert card["data"]["stream"] == "log-rides"
    assert card["data"]["next_offsets"] == {"0": n}
    assert card["data"]["topic_id"] == snapshot.header.topic_id
    assert card["data"]["topic_id"] is not None
    assert card["versions"] == snapshot.header.versions
    assert card["scores"]["n_labelled"] == n
    scores = snapshot.state["counts"]["scores"]
    assert card["scores"]["mean loss"] == scores["total_loss"] / n
    text = (folder / "model.md").read_text()
    for part in (card["name"], card["saved_at"], card["learner"]["class"], card["intended_use"]):
        assert part in text
    for place in (str(folder), str(Path.home()), socket.gethostname()):
        assert place not in text + json.dumps(card)


def test_an_export_is_repeated_to_the_byte(command, tmp_path):
    """All that is written comes from the snapshot; the card is written again."""
    written = []
    for _ in range(2):
        command("export", FAST, "model.npz").ok()
        written.append([(tmp_path / f"model.{end}").read_bytes() for end in ("npz", "md")])
    assert written[0] == written[1]
    assert FrozenRegressor.load(tmp_path / "model.npz").card["name"] == "model"


def test_a_document_of_yours_is_not_overwritten(command, tmp_path):
    """README.md is no model card, so an export as README.npz is refused."""
    (tmp_path / "README.md").write_text("mine")
    done = command("export", str(GOLDEN), "README.npz").refused()
    assert "README.md, where the model card would be written, exists" in done.err
    assert (tmp_path / "README.md").read_text() == "mine"
    assert not (tmp_path / "README.npz").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--target", "y"), "the model hashes categories of shop, and a frozen model has no table"),
        (("--target", "y", "--ignore", "shop", "--horizon", "1", "--forecast", "change"),
         "ChangeOfTarget can't be frozen"),
    ],
)  # fmt: skip
def test_models_that_a_file_could_not_hold(arguments, said, command, tmp_path):
    """They are refused with what to do, and no file is written."""
    records = [{"shop": f"s{t % 50}", "a": t % 7, "y": t % 5} for t in range(200)]
    run(command, tmp_path, records, "--learner-options", '{"profile": "fast"}', *arguments)
    (folder,) = (tmp_path / "state").iterdir()
    done = command("export", str(folder), "m.npz")
    assert done.code != 0
    assert said in " ".join(done.err.split())
    assert not list(tmp_path.glob("m.*"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere", "n.npz"], "there is no snapshot in nowhere: name a snapshot"),
        ([str(GOLDEN), "network.txt"], "give a name that ends in .npz or .onnx"),
        ([FAST, "m.onnx"], "this learner is exported as .npz, with all of its units"),
        ([FAST, "m.npz", "--size", "64"], "this learner is exported as .npz, with all of its"),
        ([str(GOLDEN), "nowhere/n.npz"], "can't write nowhere/n.npz: No such file"),
    ],
)
def test_errors(command, arguments, said):
    """Errors are one line without traceback."""
    assert said in command("export", *arguments).refused().err


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
    done = command("export", "own.snapshot", "network.npz", "--snapshot-pickle").refused()
    assert said in done.err
