import math

import numpy as np
import pytest
from river import base

from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler


class Recorder(base.Regressor):
    """Keeps its inputs."""

    def __init__(self):
        self.predicted, self.learned = [], []

    def predict_one(self, x):
        self.predicted.append(x)
        return 0.0

    def learn_one(self, x, y):
        self.learned.append(x)


def test_prediction_and_learning_see_the_same_row():
    """In a pipeline the learner behind the scaler is given one x, scaled, both times."""
    recorder = Recorder()
    pipeline = WinsorisedScaler() | recorder
    rng = np.random.default_rng(0)
    for a in rng.normal(50, 10, 100).tolist():
        pipeline.predict_one({"a": a, "b": 2 * a})
        pipeline.learn_one({"a": a, "b": 2 * a}, a)
    assert recorder.predicted == recorder.learned
    assert max(abs(v) for x in recorder.learned for v in x.values()) < 5.0
    assert abs(np.mean([x["a"] for x in recorder.learned])) < 0.3


def test_standardises():
    """A long normal stream comes out with mean 0 and deviation 1."""
    scaler = WinsorisedScaler()
    rng = np.random.default_rng(1)
    scaled = []
    for a in rng.normal(1e6, 3.0, 3_000).tolist():
        scaled.append(scaler.transform_one({"a": a})["a"])
        scaler.learn_one({"a": a})
    assert np.mean(scaled[100:]) == pytest.approx(0.0, abs=0.1)
    assert np.std(scaled[100:]) == pytest.approx(1.0, abs=0.1)


def test_clips():
    """Nothing leaves the scaler beyond +-clip, not even 1e308."""
    scaler = WinsorisedScaler(clip=2.0)
    for k in range(100):
        scaler.learn_one({"a": k % 7})
    assert scaler.transform_one({"a": 1e308}) == {"a": 2.0}
    assert scaler.transform_one({"a": -1e308}) == {"a": -2.0}


def test_constant_and_new_inputs_become_zero():
    """An input that has not varied yet is 0."""
    scaler = WinsorisedScaler()
    for _ in range(50):
        scaler.learn_one({"a": 0.1})
    assert scaler.transform_one({"a": 0.1, "new": 7.0}) == {"a": 0.0, "new": 0.0}


def test_arguments_are_checked():
    """An invalid clip and a scaler without columns are rejected by name."""
    with pytest.raises(ValueError, match="clip = 0"):
        WinsorisedScaler(clip=0)
    with pytest.raises(ValueError, match="max_columns = 0"):
        WinsorisedScaler(max_columns=0)


def test_endless_new_names_cost_no_memory():
    """One-hot names without end, as of a date column, must not fill a service's memory."""
    scaler = WinsorisedScaler(max_columns=3)
    for k in range(500):
        x = {"a": k, f"day={k}": 1.0}
        foretold = scaler.transform_one(x)
        scaler.learn_one(x)
        assert ("a" in foretold, f"day={k}" in foretold) == (True, k < 2)
    assert list(scaler._place) == ["a", "day=0", "day=1"]


def test_which_names_find_room_does_not_depend_on_their_order():
    """Names that come together are admitted in sorted order, whatever the dict's."""
    x = {"c": 1.0, "a": 2.0, "b": 3.0}
    for order in (x, dict(reversed(x.items()))):
        scaler = WinsorisedScaler(max_columns=2)
        assert set(scaler.transform_one(order)) == {"a", "b"}
        scaler.learn_one(order)
        assert set(scaler._place) == {"a", "b"}


def test_nan_is_passed_on_and_not_learned():
    """What comes after the scaler can refuse it; the statistics stay as they were."""
    scaler = WinsorisedScaler()
    for value in range(40):
        scaler.learn_one({"a": float(value)})
    before = scaler.transform_one({"a": 7.0})
    assert math.isnan(scaler.transform_one({"a": math.nan})["a"])
    scaler.learn_one({"a": math.nan})
    assert scaler.transform_one({"a": 7.0}) == before
