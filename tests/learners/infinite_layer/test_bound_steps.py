"""Steps are bound to arrays: what replaces one has them bound anew."""

import copy
import math
import random
import warnings

import numpy as np
import pytest

from iln_stream import IlnWarning, InfiniteLayerRegressor, RandomFeatureRidge
from iln_stream.kernels.plain_forecasts import COUNT
from iln_stream.learners import model_of, state_of


def events(n):
    draw = random.Random(3)
    for t in range(n):
        x = {name: draw.gauss(0.0, 1.0) for name in "abcd" if draw.random() > 0.1}
        if t >= n // 2:
            x["new"] = draw.random()
        yield x, math.sin(2.0 * x.get("a", 0.0)) + x.get("b", 0.0), draw.random()


def predictions(model, *, anew, n=260):
    """Of events with late labels, weights, new inputs, copies, broken arrays and sleepers."""
    found, waiting = [], []
    for t, (x, y, w) in enumerate(events(n)):
        engine = model._engine
        if anew:
            engine._unbind()
        if t % 50 == 49:
            model = copy.deepcopy(model) if t % 100 == 49 else model_of(state_of(model))
        if t == 150:
            engine.memory.y[7] = engine.inputs.stats[1, 0] = np.nan
        if t == 155 and engine.plain is not None:
            engine.plain.record[:] = np.nan
        if t == 165:
            engine.ridges.bank.theta[:] = 1e250  # finite, but predictions leave all bounds
        if t == 180 and hasattr(engine, "sleepers"):
            engine.sleepers.resting = True
            engine._unbind()
        if 60 < t < 120 and hasattr(model, "predict_token"):
            prediction, token = model.predict_token(x)
            waiting.append((x, token, y, w))
            if len(waiting) > 3:
                model.learn_token(*waiting.pop(0))
        else:
            prediction = model.predict_one(x)
            model.learn_one(x, y, w if t > 200 else 1.0)
        found.append(prediction)
    return found


@pytest.mark.parametrize(
    "new", [lambda: InfiniteLayerRegressor(seed=1), lambda: RandomFeatureRidge(seed=1)]
)
def test_bound_steps_are_those_of_the_present_arrays(new):
    """Predictions are to the last bit those of a learner that binds all steps at each event."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IlnWarning)
        assert predictions(new(), anew=False) == predictions(new(), anew=True)


def taught(n):
    model = InfiniteLayerRegressor(seed=1)
    for x, y, _ in events(n):
        model.learn_one(x, y)
    return model


def test_a_fault_is_noticed_at_each_prediction():
    """What is broken is left out of two predictions, and healed when an event is learned."""
    model = taught(50)  # networks sleep: the rule knows who counts
    model._engine.mean.experts["linear"].theta[:] = np.nan
    assert all(math.isfinite(model.predict_one({"a": a})) for a in (0.0, 1.0))
    with pytest.warns(IlnWarning, match="linear"):
        model.learn_one({"a": 1.0}, 1.0)
    assert model._engine.resets["linear"] == 1


def test_parts_learn_although_a_warning_was_an_error():
    """An error while parts heal leaves no step bound to arrays that were replaced."""
    model = taught(80)
    plain = model._engine.plain
    plain.record[:] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error", IlnWarning)
        with pytest.raises(IlnWarning, match="plain-forecasts"):
            model.learn_one({"a": 1.0}, 1.0)
    for _ in range(3):
        model.learn_one({"a": 1.0}, 1.0)
    assert plain.record[COUNT] == 3
