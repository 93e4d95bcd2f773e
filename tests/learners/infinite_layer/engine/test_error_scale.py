import numpy as np
import pytest

from iln_stream.learners.infinite_layer.expert import Observation
from iln_stream.learners.infinite_layer.intervals import ErrorScale
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.state import from_bytes, to_bytes


class Nothing:
    """An expert that never finds a near event."""

    nearest = np.zeros(32, np.int64)
    n_nearest = 0


def taught(scale, n, d, seed=0):
    """Teach errors whose size depends on the first input."""
    rng, event = np.random.default_rng(seed), Observation(2, d)
    for _ in range(n):
        event.z[:] = rng.normal(size=d)
        scale.expect(event)
        scale.learn(abs(rng.normal() * (1.0 + abs(event.z[0]))))
    return scale


def test_goes_on_from_its_bytes_with_new_columns():
    """A restored scale expects the same errors to the last bit, and has room for more columns."""
    memory = Memory(64, 2)
    scale = ErrorScale(memory, Nothing())
    scale.widen(3)
    taught(scale, 200, 3)
    scale.widen(9)
    taught(scale, 200, 12, seed=1)
    twin = ErrorScale(memory, Nothing())
    twin.restore(from_bytes(to_bytes(scale.state())))
    for each in (scale, twin):
        each.widen(5)
        taught(each, 50, 17, seed=2)
    assert to_bytes(twin.state()) == to_bytes(scale.state())
    assert twin.sizes.tolist() == scale.sizes.tolist()


def noisy(n, seed):
    """Events whose noise has sd 1 where the first input is positive, and .1 elsewhere."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = X[:, 1] + np.where(X[:, 0] > 0.0, 1.0, 0.1) * rng.normal(size=n)
    return [(dict(zip("abc", x, strict=True)), t) for x, t in zip(X.tolist(), y, strict=True)]


def test_intervals_are_wider_where_noise_is():
    """Of 90 % intervals, those at quiet inputs are less than half as wide as those at noisy ones,
    and each kind covers 80 % at least; with one width for all, the noisy ones would cover 79 %
    (4,000 events; the standard error of a coverage is .8 points).
    """
    learner, widths, held = InfiniteLayerRegressor(seed=1), ([], []), ([], [])
    for i, (x, y) in enumerate(noisy(5_000, 0)):
        if i > 1_000:
            low, high = learner.predict_interval(x)
            widths[x["a"] > 0.0].append(high - low)
            held[x["a"] > 0.0].append(low <= y <= high)
        learner.learn_one(x, y)
    assert np.mean(widths[0]) < 0.5 * np.mean(widths[1])
    assert min(np.mean(held[0]), np.mean(held[1])) > 0.8
    assert np.mean(held[0] + held[1]) == pytest.approx(0.9, abs=0.01)


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
@pytest.mark.parametrize("name", ["theta", "P", "record", "absolute"])
def test_a_broken_scale_costs_no_other_history(name):
    """It begins anew before the next event is learned; intervals are about as wide as before."""
    learner = InfiniteLayerRegressor(seed=1)
    events = noisy(700, 1)
    for x, y in events[:600]:
        learner.learn_one(x, y)
    low, high = learner.predict_interval(events[600][0])
    getattr(learner._engine.error_scale, name)[:] = np.nan
    for x, y in events[600:]:
        learner.predict_interval(x)
        learner.learn_one(x, y)
    found = learner.predict_interval(events[600][0])
    assert 0.3 < (found[1] - found[0]) / (high - low) < 3.0
    assert learner.resets["intervals"] == 1
