"""Keys that share a prior, frozen or not."""

import math

import numpy as np
import pytest

from iln_stream.errors import StateError
from iln_stream.learners import InfiniteLayerRegressor, RandomFeatureRidge
from iln_stream.learners.keyed import (
    FrozenPrior,
    LearningPrior,
    key_state_from_bytes,
    key_state_to_bytes,
    learn_event,
    new_row,
    predict_event,
)
from iln_stream.learners.keyed.regressor import KeyedRegressor


def events(n, seed=0):
    """Events of seven keys with levels of their own."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        k, a, b = int(rng.integers(7)), *rng.normal(size=2).tolist()
        yield f"c{k}", {"a": a, "b": b}, a * b + 5 * k + 0.1 * rng.normal()


def trained():
    """A model by key that has learned."""
    model = KeyedRegressor("key", InfiniteLayerRegressor("fast", seed=1))
    for key, x, y in events(1000):
        model.learn_one({**x, "key": key}, y)
    return model


@pytest.fixture(scope="module")
def frozen():
    """A frozen prior."""
    return trained().freeze()


def test_the_same_events_give_the_same_bytes(frozen):
    """A key's state depends on the prior and its own events alone: not on when, where, or what
    other keys learn meanwhile."""
    alone, among = new_row(), {}
    for key, x, y in events(300, seed=2):
        if key == "c3":
            alone = key_state_from_bytes(key_state_to_bytes(learn_event(frozen, alone, x, y)))
    prior = FrozenPrior.from_bytes(frozen.to_bytes())
    for key, x, y in events(300, seed=2):
        predict_event(prior, among.get(key, new_row()), x)
        among[key] = learn_event(prior, among.get(key, new_row()), x, y)
    assert key_state_to_bytes(among["c3"]) == key_state_to_bytes(alone)
    assert prior.to_bytes() == frozen.to_bytes()


def test_a_key_learns_by_a_frozen_prior(frozen):
    """With a prior that never changes, a key's errors fall to those of the prior."""
    row, errors = new_row(), []
    for _, x, _ in events(400, seed=3):
        y, before = 40 + x["a"] * x["b"], row.copy()
        errors.append(abs(y - predict_event(frozen, row, x)))
        learned = learn_event(frozen, row, x, y)
        assert (row == before).all()  # it can be learned from again
        row = learned
    assert np.mean(errors[-100:]) < 1.5 < 0.1 * errors[0]


def test_pure_functions_do_what_the_regressor_does():
    """`learn_event` with a learning prior is what `KeyedRegressor` does, to the last bit."""
    model = KeyedRegressor("key", InfiniteLayerRegressor("fast", seed=1))
    prior, rows = LearningPrior(InfiniteLayerRegressor("fast", seed=1)), {}
    for key, x, y in events(300):
        row = rows.get(key, new_row())
        assert model.predict_one({**x, "key": key}) == predict_event(prior, row, x)
        model.learn_one({**x, "key": key}, y)
        rows[key] = learn_event(prior, row, x, y)
    assert {k: model.keys.get(k).tobytes() for k in rows} == {
        k: row.tobytes() for k, row in rows.items()
    }


def test_any_regressor_is_a_prior():
    """The global model need not be the default one. Numbers have slopes before categories do."""
    prior = LearningPrior(RandomFeatureRidge(16, seed=1), slopes=1)
    row, x = new_row(1), {"a=x": 1.0, "b": 1.0}
    for _ in range(100):
        row = learn_event(prior, row, x, 3.0)
    assert predict_event(prior.freeze(), row, x) == pytest.approx(3, abs=0.1)
    assert prior.names == ["b"]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, "text", None])
def test_only_finite_numbers_are_learned(frozen, bad):
    """A label or an input that is no finite number is refused, and nothing changes."""
    before = frozen.to_bytes()
    with pytest.raises(ValueError, match="finite number"):
        learn_event(frozen, new_row(), {"a": 1.0, "b": 2.0}, bad)
    with pytest.raises(ValueError, match=r"x\['a'\] is .*RecordInputs"):
        learn_event(frozen, new_row(), {"a": bad, "b": 2.0}, 1.0)
    assert frozen.to_bytes() == before


def test_other_bytes_are_no_prior(frozen):
    """Damaged bytes are refused."""
    with pytest.raises(StateError):
        FrozenPrior.from_bytes(frozen.to_bytes()[:-10])
