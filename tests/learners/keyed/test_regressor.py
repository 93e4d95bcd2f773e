"""A model for each key, on top of a global one."""

import numpy as np
import pytest
from river import compose, preprocessing
from support.prequential import errors

from iln_stream.errors import IlnWarning, StateError
from iln_stream.learners import InfiniteLayerClassifier, InfiniteLayerRegressor, model_of, state_of
from iln_stream.learners.keyed.regressor import KeyedRegressor
from iln_stream.state import to_bytes


def keyed(**arguments):
    """A new learner."""
    return KeyedRegressor("key", InfiniteLayerRegressor("fast", seed=1), **arguments)


def events(n, n_keys=50, seed=0):
    """Events of keys with levels and slopes of their own, and what they have in common."""
    rng = np.random.default_rng(seed)
    level, slopes = 2 * rng.normal(size=n_keys), rng.normal(size=(n_keys, 2))
    for _ in range(n):
        k, (a, b) = int(rng.integers(n_keys)), rng.normal(size=2)
        y = np.sin(2 * a) + level[k] + slopes[k] @ (a, b) + 0.2 * rng.normal()
        yield {"key": f"k{k}", "a": float(a), "b": float(b)}, float(y)


def test_it_is_more_accurate_than_one_model():
    """With levels and slopes of keys, errors are near the noise, and a single model's are not."""
    without_key = (({name: x[name] for name in "ab"}, y) for x, y in events(5000))
    alone = errors(InfiniteLayerRegressor("fast", seed=1), without_key)
    ours = errors(keyed(), events(5000))
    assert ours[3000:].mean() < 0.3
    assert ours[3000:].mean() < 0.2 * alone[3000:].mean()


@pytest.mark.parametrize("n_keys", [2, 7])
def test_few_keys_are_followed(n_keys):
    """With few keys, whose mean effect is rarely estimated, the global model and the keys do not
    push each other away: errors stay near the noise, whose mean |error| is 0.8."""
    rng, model, found = np.random.default_rng(1), keyed(), []
    for _ in range(10_000):
        k, a = int(rng.integers(n_keys)), int(rng.integers(5))
        x, y = {"key": str(k), "a": a / 5}, 10.0 * k + a + rng.normal()
        found.append(abs(model.predict_one(x) - y))
        model.learn_one(x, y)
    assert np.mean(found[5_000:]) < 0.85


def test_keys_that_mean_nothing_cost_little():
    """Where keys have no effects, it is about as accurate as one model."""

    def stream():
        rng = np.random.default_rng(1)
        for _ in range(5000):
            a, b = rng.normal(size=2).tolist()
            yield {"key": f"k{rng.integers(500)}", "a": a, "b": b}, np.sin(2 * a) * b

    without_key = (({name: x[name] for name in "ab"}, y) for x, y in stream())
    alone = errors(InfiniteLayerRegressor("fast", seed=1), without_key)
    assert errors(keyed(), stream())[3000:].mean() < 1.1 * alone[3000:].mean()


def test_the_forms_of_a_key_are_one():
    """A key as text and as a category's name are the same key, and no input of the models."""
    one, other = keyed(), keyed()
    for x, y in events(200):
        rest = {name: value for name, value in x.items() if name != "key"}
        one.learn_one(x, y)
        other.learn_one({f"key={x['key']}": 1.0, **rest}, y)
    x = {"a": 0.3, "b": 0.1}
    assert one.predict_one({"key": "k1", **x}) == other.predict_one({"key=k1": 1.0, **x})
    assert set(one.prior.relevance) == {"a", "b"}


def test_an_event_without_key_is_the_global_models():
    """It is predicted and learned by the global model alone, and counted."""
    model = keyed()
    errors(model, events(500))
    n = model.n_keys
    x = {"a": 0.5, "b": 0.5}
    assert model.predict_one(x) == model.prior.predict_one(x)
    model.learn_one(x, 1.0)
    assert (model.n_missing, model.n_keys, model.prior.n_learned) == (1, n, 501)
    low, high = model.predict_interval(x)
    assert low < model.predict_one(x) < high


def test_a_state_without_sides_has_symmetric_intervals():
    """Release 0.2 counted errors below and above together: its intervals are as they were."""
    model = keyed()
    errors(model, events(500))
    state = state_of(model)
    shared, n = state["shared"]["shared"], 96
    together = np.concatenate([shared[: -2 * n], shared[-2 * n : -n] + shared[-n:]])
    state["shared"] |= {"shared": together, "version": 2}
    x = {"key": "k1", "a": 0.1, "b": 0.1}
    restored = model_of(state)
    low, high = restored.predict_interval(x, 0.8)
    assert high - restored.predict_one(x) == pytest.approx(restored.predict_one(x) - low)
    assert model.predict_one(x) == restored.predict_one(x)


def test_predicting_changes_nothing():
    """Predictions of known, new and absent keys leave the state as it is."""
    model = keyed()
    errors(model, events(300))
    before = to_bytes(state_of(model))
    for key in ("k1", "new"):
        model.predict_one({"key": key, "a": 0.1, "b": 0.1})
        model.predict_interval({"key": key, "a": 0.1, "c": 0.1})
    model.predict_one({"a": 0.1})
    assert to_bytes(state_of(model)) == before


@pytest.mark.parametrize("key", [1, "1", True, None])
def test_a_changed_event_is_learned_as_it_is(key):
    """What a prediction found out is used for the same event only: inputs that have changed since,
    and keys that are equal but of another type, are looked at again."""
    x = {"key": 1, "a": 0.5, "b": 0.5}
    ours, other = keyed(), keyed()
    for model in (ours, other):
        errors(model, events(100))
    ours.predict_one(x)
    x.update(key=key, b=-0.5, c=1.0)
    ours.predict_one({"key": 1, "a": 0.5, "b": -0.5, "c": 1.0})
    ours.learn_one(x, 2.0)
    other.learn_one(dict(x), 2.0)
    assert to_bytes(state_of(ours)) == to_bytes(state_of(other))


def test_it_works_in_a_pipeline():
    """The key passes through transformers of River that leave it alone."""
    model = (compose.Select("a", "b") | preprocessing.StandardScaler()) + compose.Select("key")
    model = model | keyed()
    assert errors(model, events(3000))[2000:].mean() < 0.4


def test_more_inputs_than_slopes():
    """Only so many inputs have slopes of a key's own; the global model gets all."""
    model = keyed(slopes=1)
    stream = [({**x, "z=1": 1.0, "c": 1.0}, y) for x, y in events(300)]
    assert np.isfinite(errors(model, stream)).all()
    assert model.common.names == ["a"]
    assert set(model.prior.relevance) >= {"a", "b", "c"}


def test_late_columns_are_learned():
    """An input that comes later gets a slope, and events without it go on."""
    model = keyed()
    errors(model, events(500))
    later = [
        ({**x, "late": 1.0 * (t % 2)}, y + 3 * (t % 2)) for t, (x, y) in enumerate(events(3000))
    ]
    assert errors(model, later)[2000:].mean() < 0.5
    assert np.isfinite(model.predict_one({"key": "k1", "late": 1.0}))


def test_wrong_arguments_are_refused():
    """The error names the argument, also of a state with another one."""
    for slopes in (-1, 61, 1.5):
        with pytest.raises(ValueError, match="slopes"):
            keyed(slopes=slopes)
    with pytest.raises(StateError, match="slopes"):
        keyed(slopes=3).restore(state_of(keyed()))
    with pytest.raises(ValueError, match="regressor"):
        KeyedRegressor("key", InfiniteLayerClassifier(seed=1))
    with pytest.raises(ValueError, match="level"):
        keyed().predict_interval({"a": 1.0}, 1.0)


def test_metrics_are_quantiles_over_keys():
    """No series for a key: counts, and quantiles of the keys' errors."""
    model = keyed()
    read = {each.name: each.read for each in model.metrics()}
    assert read["iln_key_error"]() == {}
    errors(model, events(2000))
    assert read["iln_kept_keys"]() == {("models",): 50, ("models_in_memory",): 50}
    assert set(read["iln_key_error"]()) == {"0.1", "0.5", "0.9", "0.99"}
    assert "iln_expert_weight" in read


def test_a_key_that_never_comes():
    """A misspelt name is warned of once; without it, one model would learn all keys in silence."""
    model = KeyedRegressor("custmer", InfiniteLayerRegressor("fast", seed=1))
    with pytest.warns(IlnWarning, match="none of the first 100 events has 'custmer'") as caught:
        for t in range(250):
            model.learn_one({"customer": t % 3, "a": t % 7}, float(t % 5))
    assert len([each for each in caught if "custmer" in str(each.message)]) == 1
    with pytest.raises(ValueError, match="must be the name of one field"):
        KeyedRegressor(["a", "b"])
