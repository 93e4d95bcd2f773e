"""Weights in the service: from a field or by class, and for which learners."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from river import linear_model

from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.loop.scores import calibration_error
from iln_stream.service import Service, Settings

LOGISTIC = "river.linear_model:LogisticRegression"
LINES = [{"a": n % 5 / 5, "fraud": n % 10 == 3, "n": 1 + n % 3} for n in range(60)]


def run(**more: object) -> Service:
    Path("e.jsonl").write_text("\n".join(map(json.dumps, LINES)))
    given = {"source": "e.jsonl", "target": "fraud", "learner": LOGISTIC, "metrics_port": None}
    service = Service(Settings(**{**given, **more}))  # type: ignore[arg-type]
    service.run()
    return service


@pytest.mark.parametrize("pending", [False, True])
def test_scores_are_weighted(pending: bool, tmp_path: Path) -> None:
    """Losses, errors, baselines and calibration count an event as its weight, also with late labels
    and in a run that resumes: a model that weights made right looks right."""
    late = {"pending_events": 10, "id_field": "id"} if pending else {}
    more = {"weight_field": "n", "class_weights": {"true": 9}, "window": 25, **late}
    watched = run(**more).workers[0].watched  # type: ignore[arg-type]
    model, counts, rows = linear_model.LogisticRegression(), {True: 0.0, False: 0.0}, []
    for line in LINES:
        x, y = {"a": line["a"]}, bool(line["fraud"])
        w = float(line["n"]) * (9.0 if y else 1.0)
        p, share = model.predict_proba_one(x), counts[y] / (sum(counts.values()) or 1.0)
        sure = max(p.values())
        rows.append((w, -math.log(p[y]), float((p[True] > 0.5) != y), share, p, y, sure))
        model.learn_one(x, y, w=w)
        counts[y] += w
    weights, losses, misses, shares, answers, labels, _ = zip(*rows, strict=True)
    scores, baselines = watched.scores, watched.baselines.by_name
    assert scores.running_loss == pytest.approx(np.average(losses, weights=weights))
    assert scores.running_error == pytest.approx(np.average(misses, weights=weights))
    last = weights[-25:]
    assert scores.window_loss.mean == pytest.approx(np.average(losses[-25:], weights=last))
    known = [(-math.log(s), w) for s, w in zip(shares[-25:], last, strict=True)]
    of_frequencies = np.average([loss for loss, _ in known], weights=last)
    assert baselines["class_frequencies"].windowed == pytest.approx(of_frequencies)
    copies = [(p, y) for w, *_, p, y, _ in rows[-25:] for _ in range(round(w))]
    expected = calibration_error([p for p, _ in copies], [y for _, y in copies])
    found = {each.name: each.read for each in scores.metrics()}["iln_probability_score"]
    assert found()["calibration_error"] == pytest.approx(expected)
    assert calibration_error(answers[-25:], labels[-25:]) != pytest.approx(expected, rel=0.05)
    resumed = type(scores)(25)
    resumed.restore(scores.state())
    assert resumed.state() == scores.state()
    assert resumed.window_loss.mean == scores.window_loss.mean


def test_a_weight_that_is_missing_or_wrong() -> None:
    """A record without a weight counts once; a negative weight makes a dead letter."""
    LINES[5:5] = [{"a": 1, "fraud": True, "n": None}, {"a": 1, "fraud": True, "n": -2}]
    try:
        (worker,) = run(weight_field="n").workers
    finally:
        del LINES[5:7]
    assert worker.watched.n_dead_letters == 1
    assert worker.watched.scores.n_labelled == 61
    assert (
        "n: a weight is a number and at least 0, got -2" in Path("dead-letters.jsonl").read_text()
    )


@pytest.mark.parametrize("pending", [False, True])
def test_our_classifier_takes_weights(pending: bool) -> None:
    """It learns what it learns alone with `w`, also where labels are late."""
    weighted = {"weight_field": "n", "class_weights": {"true": 9}}
    late = {"pending_events": 10, "id_field": "id"} if pending else {}
    (worker,) = run(learner="infinite-layer-classifier", **weighted, **late).workers
    alone, plain = (InfiniteLayerClassifier(seed=1) for _ in range(2))
    for line in LINES:
        x, y = {"a": line["a"]}, line["fraud"]
        alone.learn_one(x, y, w=line["n"] * (9.0 if y else 1.0))
        plain.learn_one(x, y)
    x = {"a": 0.6}
    assert worker.learner.predict_proba_one(x) == alone.predict_proba_one(x)
    assert alone.predict_proba_one(x)[True] > 1.5 * plain.predict_proba_one(x)[True]


@pytest.mark.parametrize(
    "learner", ["infinite-layer", "pool", "river.linear_model:LinearRegression"]
)
def test_learners_of_numbers_take_weights(learner: str) -> None:
    """Of all events a learner of ours learns one less if its weight is too large to count."""
    LINES[5:5] = [{"a": 1, "fraud": True, "n": 2e6}]
    try:
        (worker,) = run(learner=learner, target="a", features="n", weight_field="n").workers
    finally:
        del LINES[5:6]
    river = learner.startswith("river")
    assert worker.watched.n_dead_letters == (0 if river else 1)
    assert river or "must be a weight from 0 to 1,000,000" in Path("dead-letters.jsonl").read_text()
