"""Intervals of predictions: of which learners, and without an effect on what is learned."""

import json
from pathlib import Path
from typing import Any

import pytest

from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.records import Prediction, read_prediction
from iln_stream.service import Service, Settings, build_learner


def event(number: int, **more: Any) -> str:
    x = {"a": number % 7 / 7, "b": number % 3}
    return json.dumps({"x": x, "y": number % 5, "id": str(number), **more})


def run(lines: list[str], **more: Any) -> list[Prediction]:
    Path("e.jsonl").write_text("\n".join(lines))
    Path("p.jsonl").unlink(missing_ok=True)
    Service(Settings(source="e.jsonl", predictions="p.jsonl", metrics_port=None, **more)).run()
    found = [read_prediction(line) for line in Path("p.jsonl").read_text().splitlines()]
    return [each for each in found if isinstance(each, Prediction)]


def test_intervals_are_those_before_learning() -> None:
    """Each prediction has the learner's interval at each level, computed before its label is
    learned; the predictions are the same as without intervals."""
    lines = [event(number) for number in range(60)]
    found = run(lines, prediction_intervals=(0.5, 0.9), learner_options={"profile": "fast"})
    alone = InfiniteLayerRegressor("fast", seed=1)
    for line, prediction in zip(lines, found, strict=True):
        given = json.loads(line)
        assert prediction.y_pred == alone.predict_one(given["x"])
        assert prediction.intervals == {
            "0.5": alone.predict_interval(given["x"], 0.5),
            "0.9": alone.predict_interval(given["x"], 0.9),
        }
        alone.learn_one(given["x"], given["y"])


def test_an_event_that_waits_for_its_label_has_an_interval() -> None:
    """The interval belongs to the published prediction; the late label publishes nothing."""
    waiting, label = event(41, y=None), json.dumps({"id": "41", "y": 1})
    lines = [*map(event, range(40)), waiting, label]
    found = run(lines, prediction_intervals=(0.9,), pending_events=5)
    assert [each.offset for each in found] == list(range(41))
    assert found[-1].intervals is not None


@pytest.mark.parametrize("learner", ["infinite-layer", "infinite-layer-classifier"])
def test_the_largest_contributions(learner: str) -> None:
    """They are those of `explain_one` before the label is learned, which predicts the same."""
    lines = [event(number) for number in range(30)]
    found = run(lines, learner=learner, prediction_contributions=1)
    plain = run(lines, learner=learner)
    alone = build_learner(Settings(learner=learner))
    for line, prediction, without in zip(lines, found, plain, strict=True):
        given = json.loads(line)
        expected = alone.explain_one(given["x"])
        assert prediction.explanation is not None
        assert prediction.explanation.baseline == expected.baseline
        assert prediction.explanation.contributions == expected.largest(1)
        assert prediction.model_copy(update={"explanation": None, "model": None}) == (
            without.model_copy(update={"model": None})
        )
        alone.learn_one(given["x"], given["y"])
    assert len(found[-1].explanation.contributions) == 1  # type: ignore[union-attr]
