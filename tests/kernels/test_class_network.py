"""One step of a network of classes, against plain numpy with derivatives by differences."""

import numpy as np
import pytest
from kernels.plain_network import BATCH, PlainClassNetwork
from kernels.test_replayed_network import N_EVENTS, PLAIN, SMALL, Stream, empty_network

from iln_stream.kernels.network_events import PACE, draw, learn_class_network, predict_class_network
from iln_stream.kernels.networks import (
    LONG,
    SHORT,
    WEIGHTS,
    begin,
    n_scratch,
    scratch_of,
    weights_of,
)

OFFSETS = {1: [-0.2, -1.7], 3: [-0.4, -1.5, -2.2], 20: np.linspace(-4.0, -2.0, 20)}


class Classes(Stream):
    """The events of `Stream`, each of a class; labels are independent, so lags are no inputs."""

    def __init__(self, n_classes, *, weighted=False):
        super().__init__(weighted=weighted)
        self.labels = np.random.default_rng(1).integers(0, n_classes, N_EVENTS)
        self.ring.ring[1][:N_EVENTS] = self.labels


def stepped(stream, shape, offsets, pace=PACE, warm=20):
    """A network after some steps on the last event, and its parameters before the last of them."""
    L = stream.ring.n_columns
    network, scratch = empty_network(shape, L), np.zeros(n_scratch(shape, L), np.float32)
    begin(shape, network, 0)
    arguments = (
        tuple(shape), tuple(network), stream.ring.ring, stream.ring.encoding, offsets, tuple(pace),
        scratch,
    )  # fmt: skip
    for _ in range(warm):
        learn_class_network(*arguments)
    before = network.parameters.copy()
    learn_class_network(*arguments)
    return network, before, scratch


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [SMALL, PLAIN])
@pytest.mark.parametrize("outputs", OFFSETS)
def test_a_step_against_numpy(shape, outputs, weighted):
    """The gradient of the log loss, with the draws' labels and weights; and a step along it."""
    shape, offsets = shape._replace(outputs=outputs), np.array(OFFSETS[outputs])
    stream = Classes(len(offsets), weighted=weighted)
    network, before, scratch = stepped(stream, shape, offsets)
    drawn = np.empty(BATCH, np.int64)
    draw(shape, network, N_EVENTS, 256, drawn)
    plain = PlainClassNetwork(shape, stream.ring.n_columns, offsets)
    plain.event_weights = stream.weights[drawn]
    z, phi, _ = stream.batch(drawn)
    gradient = plain.gradient(before[WEIGHTS], z, phi, stream.labels[drawn])
    views = scratch_of(scratch, shape, stream.ring.n_columns)
    assert abs(gradient).max() > 0.01
    np.testing.assert_allclose(views.gradient[0], gradient, atol=1e-5)
    after = plain.stepped(before, gradient, step=21)
    np.testing.assert_allclose(network.parameters[:3], after[:3], atol=1e-5)


@pytest.mark.parametrize("outputs", OFFSETS)
def test_predictions_against_numpy(outputs):
    """Probabilities by both averages of the weights, which sum to one."""
    shape, offsets = SMALL._replace(outputs=outputs), np.array(OFFSETS[outputs])
    stream = Classes(len(offsets))
    network, _, scratch = stepped(stream, shape, offsets)
    plain, ring = PlainClassNetwork(shape, stream.ring.n_columns, offsets), stream.ring
    network.parameters[SHORT] *= 0.9
    network.parameters[LONG] *= 0.8
    p = np.empty((2, len(offsets)))
    for i in (3, 50, 88):
        ring.look(stream.rows[i])
        predict_class_network(
            tuple(shape), tuple(network), ring.encoding, ring.inputs, offsets, scratch, p
        )
        z, phi, _ = stream.batch(np.array([i]))
        rows = [network.parameters[k].astype(float) for k in (SHORT, LONG)]
        np.testing.assert_allclose(p, [plain.probabilities(w, z, phi)[0] for w in rows], atol=1e-5)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        assert abs(p[0] - p[1]).max() > 1e-4


def test_offsets_are_the_first_predictions():
    """The outputs start at 0: probabilities are those of the offsets, whatever the inputs."""
    stream = Classes(2)
    shape, L, ring = SMALL, stream.ring.n_columns, stream.ring
    network, scratch = empty_network(shape, L), np.zeros(n_scratch(shape, L), np.float32)
    begin(shape, network, 0)
    p = np.empty((2, 2))
    ring.look(stream.rows[5])
    offsets = np.log([0.97, 0.03])
    predict_class_network(
        tuple(shape), tuple(network), ring.encoding, ring.inputs, offsets, scratch, p
    )
    np.testing.assert_allclose(p, [[0.97, 0.03]] * 2)


@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_weights_that_are_not_finite_show(n_classes):
    """Neither exponentials nor normalising hide nan."""
    stream = Classes(2)
    shape = SMALL._replace(outputs=1 if n_classes < 3 else n_classes)
    network, ring = empty_network(shape, stream.ring.n_columns), stream.ring
    weights_of(network.parameters[LONG], shape).b3[0, 0] = np.nan
    scratch = np.zeros(n_scratch(shape, ring.n_columns), np.float32)
    p = np.empty((2, n_classes))
    ring.look(stream.rows[5])
    arguments = ring.encoding, ring.inputs, np.zeros(n_classes), scratch, p
    predict_class_network(tuple(shape), tuple(network), *arguments)
    assert np.isfinite(p[0]).all()
    assert not np.isfinite(p[1].sum())


def test_the_pace_sets_decay_and_averages():
    """A larger decay leaves smaller weights; larger steps leave averages nearer to the weights."""
    stream, offsets = Classes(2), np.array(OFFSETS[1])
    sizes, distances = [], []
    for pace in (PACE, PACE._replace(decay=50.0), PACE._replace(short_least=0.5, long_least=0.5)):
        network, _, _ = stepped(stream, PLAIN, offsets, pace, warm=300)
        weights = network.parameters
        sizes.append(np.abs(weights[WEIGHTS]).sum())
        distances.append(np.abs(weights[WEIGHTS] - weights[LONG]).sum())
    assert sizes[1] < 0.5 * sizes[0]
    assert distances[2] < 0.5 * distances[0]
