"""Intervals of predictions: of which learners, and without an effect on what is learned."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.embedded_log import append, messages

from iln_stream.errors import RefusedError
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.records import Prediction, read_prediction
from iln_stream.service import Service, Settings, build_learner
from iln_stream.snapshots import load
from iln_stream.snapshots.follower import Follower


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


def test_quantiles_of_a_run() -> None:
    """Each prediction has them in ascending order, also one that waits for its label."""
    lines = [event(n, **({"y": None} if n % 9 == 4 else {})) for n in range(80)]
    lines += [json.dumps({"id": str(n), "y": n % 5}) for n in range(80) if n % 9 == 4]
    found = run(lines, pending_events=50, profile="fast", prediction_quantiles=(0.9, 0.1))
    assert len(found) == 80
    for each in found:
        assert each.quantiles is not None
        assert list(each.quantiles) == ["0.1", "0.9"]
        assert each.quantiles["0.1"] <= each.quantiles["0.9"]


def test_quantiles_of_a_learner_of_ones_own() -> None:
    """A learner that has quantiles itself publishes them, without the setting."""
    Path("own_quantiles.py").write_text(
        "from iln_stream import InfiniteLayerRegressor as Ours, QuantileRegressor\n"
        "model = lambda: QuantileRegressor(Ours('fast'), levels=(0.2, 0.8))\n"
    )
    found = run([event(n) for n in range(20)], learner="own_quantiles:model")
    assert found[-1].quantiles is not None
    assert list(found[-1].quantiles) == ["0.2", "0.8"]


def test_quantiles_outlive_a_restart(tmp_path: Path) -> None:
    """With a model for each key, two runs publish the numbers of one, a published version has the
    quantiles of the snapshot, and a run with other levels is refused."""

    def learn(path: Path, **more: Any) -> list[Any]:
        here = path.parent
        given: dict[str, Any] = {"prediction_quantiles": (0.1, 0.9), "publish": str(here), **more}
        given |= {"by_key": "b", "profile": "fast", "snapshots": str(here / "state")}
        given |= {"source": f"sqlite:{path}", "predictions": f"sqlite:{path}#out"}
        Service(Settings(stop_at_end=True, metrics_port=None, **given)).run()
        found = messages(path, "out")
        return [(each["y_pred"], each["quantiles"]) for each in found]

    found: dict[Path, list[Any]] = {}
    whole, parts = tmp_path / "whole" / "a.db", tmp_path / "parts" / "a.db"
    records = [event(n).encode() for n in range(90)]
    for path, several in ((whole, [records]), (parts, [records[:50], records[50:]])):
        path.parent.mkdir()
        for each in several:
            append(path, each)
            found[path] = learn(path)
    assert found[parts] == found[whole]
    (file,) = parts.parent.glob("*.model")
    follower, x = Follower(file), {"a": 0.3, "b": 1.0}
    assert follower.refresh()
    assert follower.current is not None
    expected = load(parts.parent / "state").predict_quantiles_one(x)
    assert follower.current.learner.predict_quantiles_one(x) == expected
    with pytest.raises(RefusedError, match=r"prediction_quantiles.*rebuild"):
        learn(parts, prediction_quantiles=(0.5,))
