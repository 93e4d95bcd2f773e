import math

import numpy as np
import pytest
from river import dummy, linear_model, stats

from iln_stream.learners import ScaledTarget, ShrinkingGradient


def test_targets_stay_within_one():
    """The regressor's targets lie in [-1, 1], for any y; a constant one is predicted."""
    model = ScaledTarget(ShrinkingGradient(seed=0, draws=10))
    rng = np.random.default_rng(0)
    for y in 50 * [42.0]:
        model.learn_one({"a": 1.0}, y)
    assert model.predict_one({"a": 1.0}) == 42.0  # nothing divides by a deviation of 0
    for y in [*rng.normal(1e6, 5, 200).tolist(), 1e308, -1e308, 0.0]:
        model.learn_one({"a": 1.0}, y)
        assert -1.0 <= model.regressor.last_update.y <= 1.0
        assert math.isfinite(model.predict_one({"a": 1.0}))
    assert model.regressor.n_outside == 0


def test_predictions_come_back_in_units_of_y():
    """A mean of scaled targets is the mean of the targets."""
    model = ScaledTarget(dummy.StatisticRegressor(stats.Mean()))
    rng = np.random.default_rng(0)
    y = rng.normal(100, 5, 2_000)
    for value in y:
        model.learn_one({}, value)
    assert model.predict_one({}) == pytest.approx(y.mean(), abs=0.5)


def test_predictions_stay_within_the_width():
    """The predictions of a diverging regressor are clipped to mean +- width sd."""
    model = ScaledTarget(linear_model.LinearRegression(intercept_init=1e9), width=2.0)
    for y in (9.0, 11.0) * 20:
        model._moments = model._moments.updated(y)
    assert model.predict_one({"a": 1.0}) == pytest.approx(12.0)


def test_shift_and_scale_of_y_do_not_matter():
    """Learning a y + b gives a times the prediction plus b."""
    plain, affine = (ScaledTarget(ShrinkingGradient(seed=3, draws=50)) for _ in range(2))
    rng = np.random.default_rng(1)
    for a in rng.uniform(-1, 1, 200).tolist():
        plain.learn_one({"a": a}, math.sin(3 * a))
        affine.learn_one({"a": a}, 7 * math.sin(3 * a) - 1000)
    for a in (-0.5, 0.1, 0.9):
        expected = 7 * plain.predict_one({"a": a}) - 1000
        assert affine.predict_one({"a": a}) == pytest.approx(expected, rel=1e-9)


def test_width_is_checked():
    """An invalid width is rejected by name."""
    with pytest.raises(ValueError, match="width = -1"):
        ScaledTarget(ShrinkingGradient(), width=-1)
