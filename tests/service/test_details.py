"""Intervals of predictions: of which learners, and without an effect on what is learned."""

import json
from pathlib import Path
from typing import Any

import pytest

from iln_stream.errors import RefusedError
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.records import Prediction, read_prediction
from iln_stream.service import Service, Settings, build_learner
from iln_stream.settings import SettingsError


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


@pytest.mark.parametrize("by_key", [None, "b"])
def test_quantiles_of_a_run(by_key: str | None) -> None:
    """Each prediction has them in ascending order, also one that waits for its label, and one by
    key; a restart goes on with the same bytes, and a snapshot of other levels is refused."""
    lines = [event(n, **({"y": None} if n % 9 == 4 else {})) for n in range(80)]
    lines += [json.dumps({"id": str(n), "y": n % 5}) for n in range(80) if n % 9 == 4]
    given: dict[str, Any] = {"pending_events": 50, "by_key": by_key, "profile": "fast"}
    given |= {"prediction_quantiles": (0.9, 0.1), "prediction_intervals": (0.8,)}
    found = run(lines, **given)
    assert len(found) == 80
    for each in found:
        assert each.quantiles is not None
        assert list(each.quantiles) == ["0.1", "0.9"]
        assert each.quantiles["0.1"] <= each.quantiles["0.9"]
    first = run(lines[:40], snapshots="state", **given)
    second = run(lines, snapshots="state", **given)
    assert [each.quantiles for each in (*first, *second)] == [each.quantiles for each in found]
    with pytest.raises(RefusedError, match=r"prediction_quantiles.*rebuild"):
        run(lines, snapshots="state", **{**given, "prediction_quantiles": (0.5,)})


def test_classes_have_no_quantiles() -> None:
    """The setting is refused with what to do."""
    settings = Settings(learner="infinite-layer-classifier", prediction_quantiles=(0.5,))
    with pytest.raises(SettingsError, match="prediction_quantiles: .* unset it"):
        build_learner(settings)
