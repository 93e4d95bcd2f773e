"""`ChangeOfTarget`: a forecaster that learns changes."""

import math
from copy import deepcopy as copy_of

import numpy as np
import pytest
from river import dummy, stats
from support.prequential import learned
from support.states import same

from iln_stream.learners import ChangeOfTarget, InfiniteLayerRegressor, model_of, state_of
from iln_stream.learners.frozen import freeze_learner
from iln_stream.loop import LearnsLate


def series(n):
    """Return inputs with the present value of a growing series, and its value 3 steps later."""
    y = [0.5 * t + math.sin(t) for t in range(n + 3)]
    return [({"load": y[t], "load.lag_1": y[max(t - 1, 0)]}, y[t + 3]) for t in range(n)]


def fast():
    return ChangeOfTarget(InfiniteLayerRegressor("fast", seed=1), "load")


def mean():
    return ChangeOfTarget(dummy.StatisticRegressor(stats.Mean()), "load")


def test_it_learns_what_the_regressor_learns_of_changes():
    """Prediction and interval are the regressor's, shifted by the present value; weights are passed
    on. A regressor without weights, intervals and explanations has none with it."""
    model, alone = fast(), InfiniteLayerRegressor("fast", seed=1)
    for i, (x, y) in enumerate(series(300)):
        assert model.predict_one(x) == x["load"] + alone.predict_one(x)
        low, high = alone.predict_interval(x, 0.8)
        assert model.predict_interval(x, 0.8) == (x["load"] + low, x["load"] + high)
        model.learn_one(x, y, 1.0 + i % 3)
        alone.learn_one(x, y - x["load"], 1.0 + i % 3)
    assert same(model.regressor.state(), alone.state())
    mean().learn_one({"load": 1.0}, 2.0, w=1.0)
    assert not hasattr(mean(), "predict_interval")
    assert not hasattr(mean(), "explain_one")


def test_a_series_that_grows():
    """The change is learned where the value, new each time, is not: by a learner that predicts
    within the range of the past."""
    model, of_values = mean(), dummy.StatisticRegressor(stats.Mean())
    lost, lost_of_values = 0.0, 0.0
    for x, y in series(600):
        lost += abs(y - model.predict_one(x))
        lost_of_values += abs(y - of_values.predict_one(x))
        model.learn_one(x, y)
        of_values.learn_one(x, y)
    assert lost < lost_of_values / 2


@pytest.mark.parametrize("make", [fast, mean])
def test_late_labels(make):
    """The change learned is that from the present value of the prediction's time, in the token,
    although another value is the last known one by now."""
    events = series(100)
    model = learned(make(), events)
    assert isinstance(model, LearnsLate)
    predicted, token = model.predict_token({})
    assert token[0] == events[-1][1]
    assert predicted == model.predict_one({})
    model.learn_one({"load": 900.0}, 1000.0)
    copy = copy_of(model.regressor)
    model.learn_token({}, token, 60.0)
    if make is fast:
        copy.learn_token({}, token[1:], 60.0 - token[0])
    else:
        copy.learn_one({}, 60.0 - token[0])
    assert model.predict_one({"load": 5.0}) == 5.0 + copy.predict_one({"load": 5.0})
    assert model.predict_one({}) == 60.0 + copy.predict_one({})


def test_a_missing_present_value():
    """The last label stands for it, and 0 before the first."""
    model = mean()
    assert model.predict_one({}) == 0.0
    model.learn_one({"load": 10.0}, 13.0)
    assert model.predict_one({}) == 16.0
    model.learn_one({}, 18.0)
    assert model.predict_one({"load": 0.0}) == 4.0


def test_a_restored_model_goes_on():
    """Bit for bit, the last label included; also with a regressor that makes no tokens."""
    model = learned(fast(), series(90))
    copy = model_of(state_of(model))
    assert copy.predict_one({}) == model.predict_one({})
    for x, y in series(30):
        prediction, token = model.predict_token(x)
        again, other = copy.predict_token(x)
        assert (prediction, token.tobytes()) == (again, other.tobytes())
        model.learn_token(x, token, y)
        copy.learn_token(x, other, y)
    assert same(state_of(model), state_of(copy))


def test_explanations_are_of_the_later_value():
    """They sum to the prediction, and the present value has its share."""
    model = learned(fast(), series(400))
    x = series(1)[0][0] | {"load": 190.0}
    found = model.explain_one(x)
    assert found.prediction == model.predict_one(x)
    total = found.baseline + sum(found.contributions.values())
    assert total == pytest.approx(found.prediction)
    mean_load = np.mean([each["load"] for each in model.regressor.background()])
    shift = model.regressor.explain_one(x).contributions["load"] + 190.0 - mean_load
    assert found.contributions["load"] == pytest.approx(shift, rel=1e-6)


@pytest.mark.parametrize(
    ("learn", "error"),
    [
        (lambda model: model.learn_one({"load": -1.5e308}, 1.5e308), "must be a finite number"),
        (lambda model: model.learn_one({"load": 1.0}, math.nan), "must be a finite number"),
        (lambda model: model.learn_one({"load": 1.0}, 2.0, w=-1), "w = -1"),
        (lambda model: model.learn_token({"load": 1.0}, [], 2.0), "another learner"),
        (lambda model: model.learn_token({"load": 1.0}, [1.0, 2.0], 2.0), "token"),
    ],
)
@pytest.mark.parametrize("make", [fast, mean])
def test_bad_input_changes_nothing(make, learn, error):
    """Nothing is learned from a change that is no number, or from another learner's token."""
    model = make()
    model.learn_one({"load": 1.0}, 2.0)
    before = model.predict_one({})
    with pytest.raises(ValueError, match=error):
        learn(model)
    assert model.predict_one({}) == before


def test_it_is_not_frozen():
    """A frozen model of the changes alone would be taken for one of values."""
    model = learned(fast(), series(10))
    with pytest.raises(ValueError, match="ChangeOfTarget can't be frozen"):
        freeze_learner(model)
