import numpy as np
import pytest

from iln_stream.kernels.fast import (
    EVENT_WEIGHT,
    LEARNED,
    UNSOUND,
    learn_event,
    learn_rows,
    predict_event,
    predict_rows,
)
from iln_stream.learners.infinite_layer.fast import FastEngine
from iln_stream.learners.restoring import random_key


def engine_and_rows(d, n):
    engine, rng = FastEngine(256, random_key(1)), np.random.default_rng(d)
    X = rng.normal(size=(n, d))
    engine.learn(dict(zip("abcdefghij", X[0].tolist(), strict=False)), 0.5)
    X.flags.writeable = False
    return engine, X, np.sin(X.sum(axis=1))


def state(engine):
    return engine.inputs.stats, engine._array, engine.units


def rest(engine):
    return engine.memory, engine._seed, engine._squared


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("d", [1, 2, 10])
def test_rows_are_events(d, weighted):
    """The same arrays, to the last bit, as after calls for each event, also with weights."""
    (one, X, y), (many, *_) = (engine_and_rows(d, 300) for _ in range(2))
    w = np.random.default_rng(0).integers(0, 4, 300) / 2.0 if weighted else np.ones(300)
    for engine in (one, many):
        engine._make_room_for_weights()
    for x, t, weight in zip(X, y.tolist(), w.tolist(), strict=True):
        predict_event(x, *state(one))
        one._p[EVENT_WEIGHT] = weight
        assert learn_event(x, t, *state(one), *rest(one)) == LEARNED
    assert learn_rows(X, y, w, *state(many), *rest(many)) == (300, LEARNED)
    for mine, theirs in zip((*state(many), many.memory), (*state(one), one.memory), strict=True):
        assert mine.tobytes() == theirs.tobytes()
    expected = [predict_event(x, *state(one)) for x in X]
    assert predict_rows(X, *state(many)).tolist() == expected


def test_a_fault_ends_the_loop():
    """The row at which it shows is not learned."""
    engine, X, y = engine_and_rows(2, 20)
    engine.record[0] = np.nan
    assert learn_rows(X, y, np.ones(20), *state(engine), *rest(engine)) == (0, UNSOUND)


def test_no_rows():
    """Nothing is predicted or learned."""
    engine, X, y = engine_and_rows(2, 20)
    before = engine._array.copy()
    assert predict_rows(X[:0], *state(engine)).tolist() == []
    assert learn_rows(X[:0], y[:0], y[:0], *state(engine), *rest(engine)) == (0, LEARNED)
    assert (engine._array == before).all()
