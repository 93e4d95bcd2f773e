import numpy as np
import pytest

from iln_stream.kernels.network_events import PACE
from iln_stream.kernels.networks import Shape
from iln_stream.learners.infinite_layer.experts.class_networks import ClassNetwork
from iln_stream.learners.infinite_layer.experts.networks import ReplayRing
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.target import Target

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
