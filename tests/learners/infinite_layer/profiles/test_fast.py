import copy
from functools import cache

import numpy as np
import pytest

from iln_stream.errors import IlnWarning
from iln_stream.kernels.fast import (
    DRIFT,
    EVENTS,
    HUBER_RECORD,
    INSPECT_EVERY,
    KEPT,
    LAGS,
    N_FAST_LAGS,
    STEPS,
)
from iln_stream.learners.infinite_layer.fast import MEMORY, FastEngine
from iln_stream.learners.restoring import random_key
from iln_stream.state import all_finite, from_bytes, to_bytes


def products(n, seed=0):
    """Events whose target is a product of two of three inputs."""
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return [(dict(zip("abc", x, strict=True)), x[0] * x[1]) for x in X.tolist()]


def taught(events):
    engine = FastEngine(256, random_key(1))
    for x, y in events:
        engine.learn(x, y)
    return engine


def test_each_expert_is_reported_by_its_name():
    """There is no Algorithm 1 among them."""
    engine = taught(products(20))
    names = ["ridge", "running-mean", "persistence", "stretched-2", "stretched-4"]
    assert list(engine.expert_weights()) == names
    assert engine.first_order is None


def test_the_median_of_two_valued_targets_is_a_value():
    """Where the sign of a noisy sum is the target, stretched ridges get the weight, and most
    predictions are close to one of the two values.
    """
    rng = np.random.default_rng(0)
    engine, predictions = taught([]), []
    for a, b, noise in rng.normal(size=(800, 3)).tolist():
        x = {"a": a, "b": b}
        predictions.append(engine.predict(x))
        engine.learn(x, 1.0 if a + b + 0.3 * noise > 0.0 else -1.0)
    weights = engine.expert_weights()
    assert weights["stretched-2"] + weights["stretched-4"] > 0.8
    assert np.mean(np.abs(predictions[400:]) > 0.9) > 0.7


def waves(n, seed=0):
    """Events whose target is a wave along a direction that no unit was drawn for."""
    X = np.random.default_rng(seed).normal(size=(n, 4))
    y = np.sin(2.0 * X.sum(axis=1))
    return [
        (dict(zip("abcd", x, strict=True)), t) for x, t in zip(X.tolist(), y.tolist(), strict=True)
    ]


def mean_errors(engine, events, size):
    """Mean absolute errors of so many events each."""
    errors = []
    for x, y in events:
        errors.append(abs(engine.predict(x) - y))
        engine.learn(x, y)
    return np.array(errors).reshape(-1, size).mean(axis=1)


def test_it_goes_on_learning():
    """Units move: the error falls long after the ridge has fitted those that were drawn."""
    first, *_, last = mean_errors(taught([]), waves(10_000), 2_000)
    assert last < 0.5 * first


@pytest.mark.parametrize("seed", range(4))
def test_it_is_no_seed_lottery(seed):
    """Whatever units are drawn, products are learned."""
    engine = FastEngine(256, random_key(seed))
    assert mean_errors(engine, products(2_000), 1_000)[-1] < 0.2


def test_a_new_column_is_learned():
    """Its weights begin at 0, and the ridge and gradients move them."""
    engine = taught(products(256))
    rng = np.random.default_rng(1)
    x = {"a": 0.3, "b": -0.2, "c": 0.5}
    before = engine.predict(x)
    engine.learn({"a": 0.0, "b": 0.0, "c": 0.0, "new": 0.0}, 0.0)
    assert len(engine.state()["mean_squares"]) == N_FAST_LAGS + 4
    assert engine.predict(x) == pytest.approx(before, abs=0.2)
    for a, b, c, new in rng.normal(size=(300, 4)).tolist():
        engine.learn({"a": a, "b": b, "c": c, "new": new}, new)
    assert engine.relevance()["new"] > 0.6
    assert engine.predict(x | {"new": 1.0}) > engine.predict(x | {"new": -1.0}) + 1.0


def test_restored_it_goes_on_bit_for_bit():
    """A state written as bytes has all that moves the units."""
    engine, twin = taught(products(1_200)), taught([])
    twin.restore(from_bytes(to_bytes(engine.state())))
    for x, y in products(40, seed=3):
        assert twin.predict(x) == engine.predict(x)
        assert twin.interval(x, 0.8) == engine.interval(x, 0.8)
        twin.learn(x, y)
        engine.learn(x, y)
    assert to_bytes(twin.state()) == to_bytes(engine.state())


N, LATER, LAST = 1_030, 3_000, 1_000
"""Events before the poison, after it, and those whose error counts."""


@cache
def before():
    """An engine that has learned products."""
    return taught(products(N))


@cache
def without_poison():
    """The mean error of the last events."""
    return mean_errors(copy.deepcopy(before()), products(LATER, seed=2), LAST)[-1]


def poisoned(field, value, whole):
    engine = copy.deepcopy(before())
    array = dict(engine.floats())[field]
    if whole:
        array[:] = value
    else:
        array.flat[0] = value
    return engine


def arrays():
    return [field for field, array in before().floats() if array.size]


def finite(engine, events):
    """Let it predict and learn; return its |errors|."""
    errors = []
    for x, y in events:
        prediction = engine.predict(x)
        assert np.isfinite(prediction)
        assert np.isfinite(engine.interval(x, 0.9)).all()
        errors.append(abs(prediction - y))
        engine.learn(x, y)
    return np.array(errors)


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
@pytest.mark.parametrize(("value", "whole"), [(np.nan, False), (np.inf, True)])
@pytest.mark.parametrize("field", arrays())
def test_every_part_heals(field, value, whole):
    """Whatever is poisoned is found and counted, predictions stay finite, and are soon as good."""
    engine = poisoned(field, value, whole)
    errors = finite(engine, products(LATER, seed=2))
    assert all(all_finite(array) for _, array in engine.floats())
    assert sum(engine.resets.values()) > 0
    assert engine.n == N + LATER
    assert errors[-LAST:].mean() < 1.2 * without_poison()


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
@pytest.mark.parametrize("field", arrays())
def test_saved_while_it_heals(field):
    """Written as bytes soon after the poison, it goes on bit for bit."""
    engine, twin, some = poisoned(field, np.nan, whole=False), taught([]), products(300, seed=2)
    finite(engine, some[:5])
    twin.restore(from_bytes(to_bytes(engine.state())))
    assert (finite(engine, some[5:]) == finite(twin, some[5:])).all()
    assert to_bytes(engine.state()) == to_bytes(twin.state())


@pytest.mark.parametrize(
    ("index", "part"),
    [
        (EVENTS, "count"),
        (EVENTS + 1, "mixture-rule"),
        (DRIFT + 1, "drift"),
        (LAGS, "last-targets"),
        (HUBER_RECORD, "ridge"),
        (STEPS, "ridge"),
        (KEPT, "memory"),
    ],
)
def test_each_number_of_the_record_heals(index, part):
    """Each is found before the next event is learned, belongs to one part, and is warned of."""
    engine, some = copy.deepcopy(before()), products(300, seed=2)
    engine.record[index] = np.inf
    with pytest.warns(IlnWarning, match=rf"^{part} was not finite"):
        engine.learn(*some[0])
    assert engine.resets == dict.fromkeys(engine.resets, 0) | {part: 1}
    assert engine.n == N + 1
    assert finite(engine, some[1:]).mean() < 3 * without_poison()


def test_what_the_memory_restores():
    """Lags, the target's scale and the number of events are as before."""
    engine, sound = poisoned("record", np.nan, whole=True), before()
    engine.target[:] = engine.inputs.stats[:] = np.nan
    with pytest.warns(IlnWarning):
        engine.healer.heal_all(engine.n)
    for index in (EVENTS, LAGS, LAGS + 1, KEPT):
        assert engine.record[index] == sound.record[index]
    assert np.allclose(engine.target, sound.target)
    assert np.allclose(engine.inputs.stats, sound.inputs.stats)


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
def test_the_ridge_is_fitted_to_the_memory():
    """Its weights are lost, but not its units: the very next predictions are nearly as good."""
    engine = poisoned("theta", np.nan, whole=True)
    units, some = engine.units.copy(), products(60, seed=2)
    engine.learn(*some[0])
    assert np.abs(engine.units - units).max() < 0.1
    assert finite(engine, some[1:]).mean() < 1.3 * finite(copy.deepcopy(before()), some[1:]).mean()


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
def test_a_ridge_out_of_all_bounds():
    """Finite weights that predict 1e30 units would be clipped to the fence for ever."""
    engine = poisoned("theta", 1e30, whole=True)
    assert finite(engine, products(LATER, seed=2))[-LAST:].mean() < 1.2 * without_poison()
    assert engine.resets["ridge"] == 1


def test_a_fault_that_no_prediction_shows():
    """It is found by the next inspection of its share, and predicting heals nothing."""
    engine, some = copy.deepcopy(before()), products(2 * INSPECT_EVERY, seed=2)
    engine.intervals.errors[0, 3] = np.nan
    due = 2 * INSPECT_EVERY - N % INSPECT_EVERY
    for x, y in some[: due - 1]:
        engine.learn(x, y)
        engine.predict(x)
    assert sum(engine.resets.values()) == 0
    with pytest.warns(IlnWarning, match="intervals was not finite"):
        engine.learn(*some[due - 1])
    assert engine.resets["intervals"] == 1


def test_all_of_the_memory_is_inspected():
    """A share at a time, so that old events are found before units learn from them."""
    engine = taught(products(2 * MEMORY))
    engine.memory[MEMORY - 10, N_FAST_LAGS] = np.nan
    with pytest.warns(IlnWarning, match="memory was not finite"):
        for x, y in products(MEMORY // 4, seed=2):
            engine.record[KEPT] = 1.0  # they learn from the last two events only
            engine.learn(x, y)
    assert engine.resets["ridge"] == 0


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
def test_extreme_values_break_nothing():
    """The largest inputs and targets that are allowed overflow no statistics and no square."""
    engine, rng = taught([]), np.random.default_rng(1)
    for _ in range(400):
        size = 10.0 ** rng.choice([-150, 0, 150])
        x = {name: float(size * rng.normal()) for name in "ab"}
        y = float(np.clip(rng.normal() * 10.0 ** rng.choice([-150, 0, 150]), -1e150, 1e150))
        finite(engine, [(x, y)])
    assert sum(engine.resets.values()) == 0
    assert all(all_finite(array) for _, array in engine.floats())


def test_the_state_stops_growing():
    """A thousand events after the memory is full, it has the same size, below 3 MB."""
    engine = taught(products(MEMORY))
    size = len(to_bytes(engine.state()))
    for x, y in products(1_000, seed=1):
        engine.learn(x, y)
    assert len(to_bytes(engine.state())) < 1.01 * size < 3e6
