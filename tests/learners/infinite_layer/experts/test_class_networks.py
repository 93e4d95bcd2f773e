import numpy as np
import pytest
from support.states import same

from iln_stream.kernels.network_events import PACE
from iln_stream.kernels.networks import Shape
from iln_stream.learners.infinite_layer.expert import Observation
from iln_stream.learners.infinite_layer.experts.class_networks import ClassNetworks
from iln_stream.learners.infinite_layer.experts.networks import RECOVERY, WAKES_AT
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.restoring import random_key

NETWORKS = {
    "bent": (Shape(64, 32, 16, 2_000, 4e-3, 3e4), PACE),
    "smooth": (Shape(64, 32, 0, 500, 3e-3, 3e4), PACE),
}


class Nets:
    """The networks alone, for events of named inputs and classes 0, 1, .."""

    def __init__(self, seed=1):
        self.inputs, self.memory = Inputs(64), Memory(2_000, 0)
        self.networks = ClassNetworks(NETWORKS, 2_000, self.inputs, self.memory, random_key(seed))

    @property
    def n_classes(self):
        return self.networks.n_classes

    def predict(self, x):
        """Probabilities (4, C)."""
        event, p = Observation(0, len(self.inputs)), np.zeros((4, self.n_classes))
        self.inputs.standardise(self.inputs.row(x), event.row, event.v)
        self.networks.predict(event, np.zeros(self.n_classes), p)
        return p

    def learn(self, x, label):
        known = len(self.inputs)
        row = self.inputs.admit(x)
        if len(row) > known:
            self.memory.widen(len(row) - known)
            self.networks.widen(len(row) - known)
        while label >= self.n_classes:
            self.networks.add_class()
        event = Observation(0, len(self.inputs))
        self.inputs.standardise(row, event.row, event.v)
        self.inputs.join(row, 0)
        self.memory.put(event.row, float(label))
        self.networks.learn(event, label, np.zeros(self.n_classes))


def quadrants(n, C=2, seed=0):
    """Events whose class is given by the signs of two of three inputs."""
    X = np.random.default_rng(seed).normal(size=(n, 3))
    labels = (X[:, 0] * X[:, 1] > 0) if C == 2 else 2 * (X[:, 0] > 0) + (X[:, 1] > 0)
    names = [dict(zip("abc", x, strict=True)) for x in X.tolist()]
    return list(zip(names, labels.astype(int).tolist(), strict=True))


def taught(events, seed=1):
    nets = Nets(seed)
    for x, label in events:
        nets.learn(x, label)
    return nets


def test_predictions_have_the_networks_names():
    """Each network predicts by two averages of its weights."""
    names = Nets().networks.names
    assert names == ("bent-short", "bent-long", "smooth-short", "smooth-long")


@pytest.mark.parametrize("C", [2, 4])
def test_learns_quadrants(C):
    """After 4,000 events each average is right in nine of ten events, and sums to one."""
    nets, right = taught(quadrants(4_000, C)), []
    for x, label in quadrants(400, C, seed=1):
        p = nets.predict(x)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        right.append(p.argmax(axis=1) == label)
    assert (np.mean(right, axis=0) > 0.9).all()


def test_last_labels_are_inputs_where_labels_last():
    """Of two classes that come in long runs, the next event's is known without any input."""
    rng, label, events = np.random.default_rng(0), 0, []
    for _ in range(3_000):
        label = 1 - label if rng.random() < 0.05 else label
        events.append(({"a": float(rng.normal())}, label))
    nets = taught(events)
    hits = []
    for x, label in events[:200]:
        hits.append(nets.predict(x)[1, label])
        nets.learn(x, label)
    assert np.mean(hits) > 0.85


def test_last_labels_of_more_classes_are_no_inputs():
    """Their indices mean nothing: what was learned last does not change a prediction much."""
    nets = taught([({"a": float(i % 3)}, i // 200 % 3) for i in range(1_200)])
    before = nets.predict({"a": 1.0})
    for label in (0, 2, 0, 2):
        nets.learn({"a": 1.0}, label)
        assert nets.predict({"a": 1.0}) == pytest.approx(before, abs=0.1)


def test_one_class_is_certain_and_trains_nothing():
    """Weights stay as drawn until there is a choice."""
    nets = taught([({"a": float(i)}, 0) for i in range(100)])
    assert (nets.predict({"a": 3.0}) == 1.0).all()
    assert [network.steps for network in nets.networks.networks.values()] == [0, 0]
    nets.learn({"a": 1.0}, 1)
    assert [network.steps for network in nets.networks.networks.values()] == [1, 1]


def test_wakes_after_its_first_events():
    """What it predicts counts only after 64 events."""
    assert taught(quadrants(WAKES_AT - 1)).networks.asleep
    assert not taught(quadrants(WAKES_AT)).networks.asleep


def test_restored_networks_go_on_bit_for_bit():
    """With columns and classes that come late, missing values, and a full ring."""
    events = quadrants(2_300)
    events[1_000:] = [({**x, "late": x["a"]}, label + (x["c"] > 1)) for x, label in events[1_000:]]
    for x, _ in events[::7]:
        del x["c"]
    nets, twin = taught(events[:2_100]), Nets()
    twin.inputs.restore(nets.inputs.state())
    twin.memory.restore(nets.memory.state())
    twin.networks.restore(nets.networks.state())
    for x, label in events[2_100:]:
        assert (nets.predict(x) == twin.predict(x)).all()
        nets.learn(x, label)
        twin.learn(x, label)
    assert same(nets.networks.state(), twin.networks.state())


def test_a_network_that_is_not_finite_is_drawn_anew():
    """Its probabilities are not finite before; then all networks sleep, and it learns again."""
    events = quadrants(1_001 + RECOVERY)
    nets = taught(events[:1_000])
    nets.networks.networks["smooth"].parameters[:] = np.nan
    assert np.array_equal(np.isnan(nets.predict(events[1_000][0])).all(axis=1), [0, 0, 1, 1])
    assert nets.networks.heal()
    assert not nets.networks.heal()
    assert nets.networks.asleep
    nets.learn(*events[1_000])
    for x, label in events[1_001:]:
        nets.predict(x)
        nets.learn(x, label)
    assert not nets.networks.asleep
    assert (nets.predict({"a": 1.5, "b": 1.5, "c": 0.0})[2:, 1] > 0.8).all()


def test_labels_have_exact_statistics():
    """Neither a rare label nor a burst of it is an outlier or a change of level."""
    nets = Nets(2)
    labels = [int(t % 500 < 3 or 900 < t < 1_000) for t in range(2_000)]
    for label in labels:
        nets.networks._join(label)
    count, mean, squares = nets.networks.labels.stats[:3, 0]
    assert (count, mean) == (2_000, pytest.approx(np.mean(labels)))
    assert squares / count == pytest.approx(np.var(labels))
