import numpy as np
import pytest

from iln_stream.kernels.network_events import PACE
from iln_stream.kernels.networks import Shape
from iln_stream.learners.infinite_layer.expert import Observation
from iln_stream.learners.infinite_layer.experts.class_networks import ClassNetwork, ClassNetworks
from iln_stream.learners.infinite_layer.experts.networks import WAKES_AT, ReplayRing
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.target import Target
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


@pytest.mark.parametrize("C", [2, 4])
def test_learns_quadrants(C):
    """After 2,500 events each average is right in nine of ten events, and sums to one."""
    nets, right = taught(quadrants(2_500, C)), []
    for x, label in quadrants(400, C, seed=1):
        p = nets.predict(x)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        right.append(p.argmax(axis=1) == label)
    assert (np.mean(right, axis=0) > 0.9).all()


def test_last_labels_are_inputs_where_labels_last():
    """Of two classes that come in long runs, the next event's is known without any input."""
    rng, label, events = np.random.default_rng(0), 0, []
    for _ in range(2_000):
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


def test_labels_have_exact_statistics():
    """Neither a rare label nor a burst of it is an outlier or a change of level."""
    nets = Nets(2)
    labels = [int(t % 500 < 3 or 900 < t < 1_000) for t in range(2_000)]
    for label in labels:
        nets.networks._join(label)
    count, mean, squares = nets.networks.labels.stats[:3, 0]
    assert (count, mean) == (2_000, pytest.approx(np.mean(labels)))
    assert squares / count == pytest.approx(np.var(labels))


SHAPES = [Shape(64, 32, 16, 500, 4e-3, 3e4), Shape(64, 32, 0, 500, 4e-3, 3e4)]
OFFSETS = np.log([0.5, 0.5])


class Events:
    """A ring of events whose class is the sign of a product of two inputs."""

    def __init__(self):
        self.inputs, self.ring = Inputs(8), ReplayRing(500)
        self.inputs.admit({"a": 0.0, "b": 0.0})
        self.ring.widen(2)
        self.rng = np.random.default_rng(0)

    def add(self, n, network, offsets):
        """Let the network learn n events."""
        for row in self.rng.normal(size=(n, 2)):
            self.inputs.join(row, 0)
            self.ring.put(row, float(row[0] * row[1] > 0), self.inputs.stats, Target().stats)
            network.learn_classes(offsets)


def predictions(network, events, offsets):
    p = np.zeros((2, len(offsets)))
    events.ring.look(np.array([1.2, -0.8]))
    network.predict_classes(offsets, p)
    return p


@pytest.fixture(params=SHAPES, ids=["piecewise", "smooth"])
def product(request):
    """A network of two classes that learned 800 events, and these."""
    events = Events()
    network = ClassNetwork(request.param, PACE, events.ring, 5)
    network.begin()
    network.add_class(1)
    network.add_class(2)
    events.add(800, network, OFFSETS)
    return network, events


def test_a_third_class_leaves_the_odds_of_the_others(product):
    """One logit becomes three; the new one is 0, and one more changes nothing again."""
    network, events = product
    before = predictions(network, events, OFFSETS)
    network.add_class(3)
    after = predictions(network, events, np.zeros(3))
    np.testing.assert_allclose(after[:, 1] / after[:, 0], before[:, 1] / before[:, 0], rtol=1e-4)
    np.testing.assert_allclose(after[:, 2] ** 2, after[:, 0] * after[:, 1], rtol=1e-4)
    network.add_class(4)
    later = predictions(network, events, np.zeros(4))
    np.testing.assert_allclose(later[:, :3] / after, later[:, :1] / after[:, :1] * np.ones(3))
    np.testing.assert_allclose(later[:, 3], later[:, 2])


@pytest.mark.parametrize("n_classes", [17, 33])
def test_classes_beyond_a_row_of_sixteen(product, n_classes):
    """More room for their scalars moves columns; what is known stays, and learning goes on."""
    network, events = product
    before = predictions(network, events, OFFSETS)
    for C in range(3, n_classes + 1):
        network.add_class(C)
    offsets = np.full(n_classes, -20.0)
    offsets[:2] = OFFSETS
    after = predictions(network, events, offsets)
    np.testing.assert_allclose(after[:, :2], before, atol=1e-5)
    events.add(300, network, offsets)
    assert (predictions(network, events, offsets)[:, 0] > 0.9).all()
