"""Classes in the service: from the first event through restarts to commands on the snapshots."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from river.datasets import synth
from sklearn import metrics as sklearn_metrics
from support.command_line import iln
from support.embedded_log import append, messages, settings_of

import iln_stream
from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.loop import NothingLearnedError
from iln_stream.service import Service, Settings, rebuild
from iln_stream.snapshots.follower import Follower

CLASSES: dict[str, tuple[Any, ...]] = {"booleans": (False, True), "texts": ("ox", "1", "é")}


def event(number: int, classes: tuple[Any, ...], **more: Any) -> bytes:
    which = number % len(classes)
    x = {"a": which + (number * 7 % 5) / 4, "b": number % 3}
    return json.dumps({"x": x, "id": str(number), "y": classes[which], **more}).encode()


def settings(path: Path, **more: object) -> Settings:
    given: dict[str, object] = {
        "predictions": f"sqlite:{path}#predictions",
        "learner": "infinite-layer-classifier",
        "learner_options": {},
    }
    return settings_of(path, **{**given, **more})


def probabilities(prediction: dict[str, Any]) -> dict[Any, float]:
    return {each["class"]: each["p"] for each in prediction["probabilities"]}


@pytest.mark.parametrize("kind", CLASSES)
def test_a_restart_changes_nothing(path: Path, kind: str) -> None:
    """Two runs from a log predict what the learner predicts in a plain loop, to the last bit, and
    classes keep their type."""
    classes = CLASSES[kind]
    for first in (0, 70):
        append(path, [event(number, classes) for number in range(first, first + 70)])
        Service(settings(path)).run()
    alone = InfiniteLayerClassifier(seed=1)
    found = messages(path)
    assert len(found) == 140
    for number, prediction in enumerate(found):
        given = json.loads(event(number, classes))
        assert probabilities(prediction) == alone.predict_proba_one(given["x"])
        assert (type(prediction["y"]), prediction["y"]) == (type(given["y"]), given["y"])
        alone.learn_one(given["x"], given["y"])
    assert [type(prediction["y_pred"]) for prediction in found[5:]] == [type(classes[0])] * 135
    assert len({prediction["model"]["version"] for prediction in found}) == 1


@pytest.mark.thorough
def test_commands_on_snapshots(path: Path) -> None:
    """`inspect`, `predict` and `rebuild` work on a classifier's snapshots as on a regressor's, and
    a published version predicts the same."""
    classes = CLASSES["texts"]
    append(path, [event(number, classes) for number in range(80)])
    Service(settings(path, publish=str(path.parent / "models"))).run()
    shown = iln("inspect", "state", cwd=path.parent).stdout
    assert re.search(r"running accuracy +\W 0\.\d+", shown), shown
    learner = iln_stream.load(path.parent / "state")
    (file,) = (path.parent / "models").glob("*.model")
    follower = Follower(file)
    assert follower.refresh()
    assert follower.current is not None
    assert follower.current.header.task == "classification"
    x = {"a": 0.5, "b": 1.0}
    assert follower.current.learner.predict_proba_one(x) == learner.predict_proba_one(x)
    lines = [event(number, classes) for number in range(80, 90)]
    (path.parent / "e.jsonl").write_bytes(b"\n".join(lines))
    done = iln("predict", "state", "--source=e.jsonl", cwd=path.parent)
    assert re.search(r"10 with a label: log loss \S+, .*; accuracy \S+", done.stderr), done.stderr
    for line, prediction in zip(lines, done.stdout.splitlines(), strict=True):
        expected = learner.predict_proba_one(json.loads(line)["x"])
        assert probabilities(json.loads(prediction)) == expected
        assert json.loads(prediction)["model"]["name"] == "e.jsonl/InfiniteLayerClassifier"
    assert rebuild(settings(path)) == [{("log-events", 0): 80}]
    again = iln_stream.load(path.parent / "state")
    assert again.predict_proba_one({"a": 0.5}) == learner.predict_proba_one({"a": 0.5})


def test_late_labels_of_classes(path: Path) -> None:
    """A class that comes later, after a restart, scores the published prediction and is learned."""
    classes = CLASSES["texts"]
    learned = [event(number, classes) for number in range(40)]
    append(path, [*learned, event(40, classes, y=None)])
    waiting = settings(path, pending_events=10)
    Service(waiting).run()
    append(path, [json.dumps({"id": "40", "y": "ox"}).encode(), event(41, classes)])
    service = Service(waiting)
    service.run()
    scores = service.workers[0].watched.scores
    assert (scores.n_events, scores.n_labelled) == (42, 42)
    assert [each["offset"] for each in messages(path)] == [*range(41), 42]


@pytest.mark.parametrize(
    ("learner", "labels", "said"),
    [
        ("pool", ["cat", "dog"], "if it is a class, set learner = infinite-layer-classifier"),
        (
            "infinite-layer-classifier",
            [0.25, 7.5],
            "the learner is a classifier; to learn numbers, set learner = infinite-layer",
        ),
        ("river.linear_model:LogisticRegression", ["cat"], "OneVsRestClassifier"),
    ],
)
def test_the_wrong_kind_of_label(path: Path, learner: str, labels: list[Any], said: str) -> None:
    """A run whose labels are not of the learner's kind ends with the setting that helps, whether
    records are events or read by a setting."""
    lines = [{"x": {"a": 1}, "y": labels[n % len(labels)]} for n in range(5)]
    flat = [{"a": 1, "y": line["y"]} for line in lines]
    for topic, given in (("events", lines), ("flat", flat)):
        append(path, [json.dumps(each).encode() for each in given], topic)
        more = {"target": "y", "source": f"sqlite:{path}#flat"} if topic == "flat" else {}
        with pytest.raises(NothingLearnedError, match=said):
            Service(settings(path, learner=learner, snapshots=None, **more)).run()


def test_rare_positives(path: Path) -> None:
    """On a stream with 1 % positives, /metrics shows what scikit-learn computes from the published
    predictions."""
    n, window, events = 900, 500, []
    for number, (x, _) in enumerate(synth.Agrawal(seed=3).take(n)):
        fraud = number % 100 == 7
        of_both = {"salary": x["salary"] + 90_000 * fraud, "age": x["age"], "loan": x["loan"]}
        events.append(json.dumps({"x": of_both, "y": fraud}).encode())
    append(path, events)
    service = Service(settings(path, snapshots=None, window=window))
    service.run()

    def seen(name: str, **more: str) -> float | None:
        labels = {"model": "log-events/infinite-layer-classifier", "partition": "0", **more}
        return service.registry.get_sample_value(f"iln_{name}", labels)

    found = messages(path)
    each_found = map(probabilities, found)
    # While no positive is known, it has what the other class leaves.
    of_true = [each.get(True, 1.0 - each.get(False, 1.0)) for each in each_found]
    y = [each["y"] for each in found]
    last, last_y = of_true[-window:], y[-window:]
    assert sum(y) == n // 100
    for name, measure in (
        ("roc_auc", sklearn_metrics.roc_auc_score),
        ("pr_auc", sklearn_metrics.average_precision_score),
        ("brier", sklearn_metrics.brier_score_loss),
    ):
        assert seen("probability_score", measure=name) == pytest.approx(measure(last_y, last))
    known = [(p, c) for p, c, each in zip(of_true, y, found, strict=True) if each["probabilities"]]
    log_loss = sklearn_metrics.log_loss(
        [c for _, c in known],
        [max(p, 1e-15) for p, _ in known],  # our bound, not scikit-learn's
    )
    assert seen("running_loss") == pytest.approx(log_loss, rel=1e-6)
    hits = [each["y_pred"] == each["y"] for each in found]
    wrong = seen("error", measure="misclassification", over="window", of="model")
    assert wrong == pytest.approx(1 - sum(hits[-window:]) / window)
    bins: dict[int, list[float]] = {}
    for p, hit in zip(last, hits[-window:], strict=True):
        confidence = max(p, 1 - p)
        bins.setdefault(min(int(confidence * 10), 9), []).append(confidence - hit)
    error = sum(abs(sum(each)) for each in bins.values()) / window
    assert seen("probability_score", measure="calibration_error") == pytest.approx(error)
