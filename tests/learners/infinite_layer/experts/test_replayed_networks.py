import numpy as np
import pytest
from support.states import same

from iln_stream.errors import IlnWarning
from iln_stream.kernels.networks import Shape
from iln_stream.learners.infinite_layer.engine import RegressionEngine
from iln_stream.learners.infinite_layer.experts.networks import RECOVERY, WAKES_AT, ReplayedNetworks
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.target import Target
from iln_stream.learners.restoring import random_key

SHAPES = {
    "bent": Shape(64, 32, 16, 2_000, 4e-3, 3e4),
    "smooth": Shape(64, 32, 0, 500, 3e-3, 3e4),
}
N = len(SHAPES) * 3


class Nets(RegressionEngine):
    """A learner of the networks alone, which predicts by one of the first network's averages."""

    def __init__(self, seed=1):
        inputs, target, memory = Inputs(256), Target(), Memory(64, 2)
        self.networks = ReplayedNetworks(
            SHAPES, {}, 2_000, inputs, target, memory, random_key(seed)
        )
        super().__init__(inputs, target, memory, self.networks)
        self._p = np.zeros(N)

    @property
    def predictions(self):
        """Of the event last predicted, on the target's scale."""
        return self._p.copy()


def products(n, seed=0):
    """Events whose target is a product of two of three inputs."""
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return [(dict(zip("abc", x, strict=True)), x[0] * x[1]) for x in X.tolist()]


def taught(events, seed=1):
    engine = Nets(seed)
    for x, y in events:
        engine.learn(x, y)
    return engine


def scaled(engine, y):
    """A target on the engine's scale."""
    return (y - engine.target.center) / engine.target.unit


def test_predictions_have_the_networks_names():
    """Each network predicts by its weights and by two averages of them."""
    assert Nets().networks.names == (
        "bent", "bent-short", "bent-long", "smooth", "smooth-short", "smooth-long",
    )  # fmt: skip


def test_learns_a_product():
    """After 4,000 events each network's averages err by less than half of what the mean does."""
    engine, errors, scale = taught(products(4_000)), [], []
    for x, y in products(500, seed=1):
        engine.predict(x)
        errors.append(np.abs(engine.predictions - scaled(engine, y)))
        scale.append(abs(scaled(engine, y)))
    averages = np.mean(errors, axis=0)[[1, 2, 4, 5]]
    assert (averages < 0.5 * np.mean(scale)).all()


def test_wakes_after_its_first_events():
    """What it predicts counts only after 64 events."""
    events = products(WAKES_AT)
    assert taught(events[:-1]).networks.asleep
    assert not taught(events).networks.asleep


def test_networks_differ_by_key_and_from_each_other():
    """Another key draws other weights, and two networks of a learner don't draw the same ones."""
    events = products(100)
    one, again, other = taught(events), taught(events), taught(events, seed=2)
    for engine in (one, again, other):
        engine.predict({"a": 0.3, "b": -0.2, "c": 1.0})
    assert (one.predictions == again.predictions).all()
    assert (one.predictions != other.predictions).all()
    assert len(set(one.predictions.tolist())) == N


def test_predicting_changes_nothing():
    """The state is the same before and after a prediction."""
    engine = taught(products(200))
    before = engine.state()
    engine.predict({"a": 5.0, "z": 1.0})
    assert same(engine.state(), before)


def test_restored_networks_go_on_bit_for_bit():
    """With columns that come, values that are missing, and a full ring."""
    events = products(2_300)
    events[1_000:] = [({**x, "late": x["a"] - x["c"]}, y) for x, y in events[1_000:]]
    for x, _ in events[::7]:
        del x["c"]
    engine, twin = taught(events[:2_100]), Nets()
    twin.restore(engine.state())
    for x, y in events[2_100:]:
        assert engine.predict(x) == twin.predict(x)
        assert (engine.predictions == twin.predictions).all()
        engine.learn(x, y)
        twin.learn(x, y)
    assert same(engine.state(), twin.state())


def test_a_network_that_is_not_finite_is_drawn_anew():
    """At the next event it is counted and warned of; all networks sleep, and it learns again."""
    events = products(1_001 + RECOVERY)
    engine = taught(events[:1_000])
    engine.networks.networks["bent"].parameters[:] = np.nan
    before = engine.state()
    assert np.isfinite(engine.predict(events[1_000][0]))
    assert same(engine.state(), before)
    with pytest.warns(IlnWarning, match=r"bent was not finite.* after 1000 events"):
        engine.learn(*events[1_000])
    assert engine.resets["bent"] == 1
    assert engine.networks.asleep
    for x, y in events[1_001:]:
        engine.learn(x, y)
    assert engine.resets["bent"] == 1
    assert not engine.networks.asleep
    engine.predict({"a": 1.5, "b": 1.5, "c": 0.0})
    assert engine.predictions[:3] == pytest.approx(scaled(engine, 2.25), abs=0.4)


def test_inputs_that_follow_events_without_any():
    """Networks are drawn with the first event: columns that come later find units that differ."""
    engine = taught([({}, float(n % 3)) for n in range(20)] + products(3_000))
    errors, scale = [], []
    for x, y in products(300, seed=1):
        engine.predict(x)
        errors.append(np.abs(engine.predictions - scaled(engine, y)))
        scale.append(abs(scaled(engine, y)))
    assert (np.mean(errors, axis=0)[[1, 2, 4, 5]] < 0.6 * np.mean(scale)).all()


def test_networks_sleep_when_the_ring_lost_its_record():
    """It then begins with the memory's 64 events, and for 1,024 more the others predict."""
    engine = taught(products(1_200))
    engine.networks.wakes_at = 5_000  # as if one had been drawn anew at a much later event
    engine.networks.ring.record[:] = np.nan
    engine.networks.heal()
    assert engine.networks.ring.n == 64
    assert engine.networks.asleep
    assert engine.networks.wakes_at == 64 + RECOVERY
