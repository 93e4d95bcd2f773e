"""Steps and predictions of networks, against plain numpy with derivatives by differences."""

import numpy as np
import pytest
from kernels.plain_network import (
    BATCH,
    PlainClassNetwork,
    PlainNetwork,
    deviations,
    quantiles,
    shares,
)

from iln_stream.kernels.columns import join, no_statistics
from iln_stream.kernels.network_events import (
    PACE,
    WARM_UP,
    draw,
    learn_class_network,
    learn_network,
    learning_rate,
    predict_class_network,
    predict_networks,
)
from iln_stream.kernels.networks import (
    FLOOR,
    GRADIENT_SQUARES,
    LONG,
    MOMENTS,
    SHORT,
    WEIGHTS,
    Network,
    Shape,
    average,
    begin,
    descend,
    n_fixed,
    n_of_column,
    n_scratch,
    scratch_of,
    set_sparse_product,
    weights_of,
)
from iln_stream.kernels.regression_event import join_target
from iln_stream.kernels.replay_ring import FIRST_KNOTS, N_LAGS, first_kept
from iln_stream.learners.infinite_layer.experts.networks import ReplayRing

SMALL = Shape(64, 32, 16, 4000, 4e-3, 3e4)
PLAIN = SMALL._replace(piecewise=0)
N_EVENTS = 90


def empty_network(shape, L, key=1):
    size = n_fixed(shape) + L * n_of_column(shape)
    return Network(np.zeros((5, size), np.float32), np.zeros(1), np.array([key], np.uint64))


class Stream:
    """90 events, of two columns with quantiles, an indicator and a constant."""

    def __init__(self, *, weighted=False):
        r = np.random.default_rng(0)
        self.rows = np.column_stack(
            [r.normal(size=N_EVENTS), r.exponential(size=N_EVENTS) + 1e6,
             r.random(N_EVENTS) < 0.3, np.full(N_EVENTS, 7.0)]
        )  # fmt: skip
        self.y = 100 + 10 * self.rows[:, 0] + r.normal(size=N_EVENTS)
        self.y[-1] += 60  # beyond Huber's bound
        self.ring = ReplayRing(256)
        self.ring.widen(self.rows.shape[1])
        self.stats, self.target = no_statistics(self.rows.shape[1]), no_statistics(1)
        self.weights = (
            np.where(np.arange(N_EVENTS) % 3, 1.0, 8.0) if weighted else np.ones(N_EVENTS)
        )
        for row, y, w in zip(self.rows, self.y, self.weights.tolist(), strict=True):
            join(row, self.stats, 0)
            join_target(y, self.target, 0)
            self.ring.put(row, y, self.stats, self.target, weight=w)

    def batch(self, events):
        """Deviations (B, L), shares of segments (B, L, 15) and targets (B,), from raw values.

        Targets are independent, so the last ones are no inputs.
        """
        L = self.ring.n_columns
        z, phi = np.zeros((len(events), L)), np.zeros((len(events), L, 15))
        for j in range(3):
            x = self.rows[:, j]
            mean, sd = self.stats[1, j], np.sqrt(self.stats[2, j] / N_EVENTS)
            z[:, N_LAGS + j] = deviations(x[events], 0.0 if j == 2 else mean, sd)
            if j < 2:
                phi[:, N_LAGS + j] = shares(x[events], quantiles(x[:FIRST_KNOTS]))
        mean, sd = self.target[1, 0], np.sqrt(self.target[2, 0] / N_EVENTS)
        return z, phi, np.clip((self.y[events] - mean) / sd, -6, 6)


def stepped(learn, stream, shape, *more, warm=20):
    """A network after some steps on the last event, and its parameters before the last of them."""
    L = stream.ring.n_columns
    network, scratch = empty_network(shape, L), np.zeros(n_scratch(shape, L), np.float32)
    begin(shape, network, 0)
    arguments = tuple(shape), tuple(network), stream.ring.ring, stream.ring.encoding, *more, scratch
    for _ in range(warm):
        learn(*arguments)
    before = network.parameters.copy()
    learn(*arguments)
    return network, before, scratch


def check_step(plain, stream, shape, labels, network, before, scratch):
    """Compare a step with the gradient of the drawn batch, by differences, and a step along it.

    Each event of the batch counts as its weight.
    """
    drawn = np.empty(BATCH, np.int64)
    draw(shape, network, N_EVENTS, 256, drawn)
    plain.event_weights = stream.weights[drawn]
    z, phi, t = stream.batch(drawn)
    gradient = plain.gradient(before[WEIGHTS], z, phi, t if labels is None else labels[drawn])
    assert abs(gradient).max() > 0.01
    found = scratch_of(scratch, shape, stream.ring.n_columns).gradient[0]
    np.testing.assert_allclose(found, gradient, atol=1e-5)
    after = plain.stepped(before, gradient, step=21)
    np.testing.assert_allclose(network.parameters[:3], after[:3], atol=1e-5)


@pytest.mark.parametrize(("shape", "weighted"), [(SMALL, True), (PLAIN, False)])
def test_a_step_against_numpy(shape, weighted):
    """Weights, means of gradients and of squares after a step; derivatives are by differences."""
    stream = Stream(weighted=weighted)
    after = stepped(learn_network, stream, shape, stream.target)
    check_step(PlainNetwork(shape, stream.ring.n_columns), stream, shape, None, *after)


@pytest.mark.parametrize("shape", [SMALL, PLAIN])
def test_predictions_against_numpy(shape):
    """Those of the weights and of both averages, in the target's units."""
    stream = Stream()
    network, _, scratch = stepped(learn_network, stream, shape, stream.target)
    plain, ring = PlainNetwork(shape, stream.ring.n_columns), stream.ring
    network.parameters[SHORT] *= 0.9
    network.parameters[LONG] *= 0.8
    p = np.empty(3)
    for i in (3, 50, 88):
        which = np.array([WEIGHTS, SHORT, LONG])
        networks = ((tuple(shape), tuple(network), which, scratch),)
        rest = ring.encoding, stream.rows[i], 0, ring.values, ring.inputs
        predict_networks(networks, ring.ring, *rest, p)
        z, phi, _ = stream.batch(np.array([i]))
        rows = [network.parameters[k].astype(float) for k in (WEIGHTS, SHORT, LONG)]
        expected = [plain.outputs(w, z, phi)[0, 0] / 3 for w in rows]
        assert p == pytest.approx(expected, abs=1e-5)
        assert len(set(p)) == 3


def test_draws_are_a_function_of_key_and_event():
    """The newest event and 15 others, uniform among the last ones; none from beyond the window."""
    shape, drawn, again = SMALL._replace(window=50), np.empty(16, np.int64), np.empty(16, np.int64)
    network, other = empty_network(shape, 3, key=5), empty_network(shape, 3, key=6)
    seen = []
    for n in range(1000, 1200):
        draw(shape, network, n, 1 << 16, drawn)
        draw(shape, network, n, 1 << 16, again)
        assert drawn[0] == n - 1
        assert (drawn == again).all()
        seen.append(n - 1 - drawn[1:])
        draw(shape, other, n, 1 << 16, again)
        assert (drawn[1:] != again[1:]).any()
    counts = np.bincount(np.concatenate(seen), minlength=50)
    assert len(counts) == 50
    assert counts.min() > 25  # 60 are expected


def test_draws_know_the_targets_before_them():
    """Of the oldest events of a ring that has lost some, these are gone."""
    drawn, network = np.empty(16, np.int64), empty_network(SMALL, 3)
    seen = []
    for n in range(65, 465):
        draw(SMALL, network, n, 64, drawn)
        seen.append(drawn.min() - first_kept(n, 64))
    assert np.min(seen) == N_LAGS


def test_schedule():
    """The rate rises over 100 steps, and has fallen by sqrt(2) after `slowing` ones."""
    shape = SMALL._replace(rate=0.01, slowing=1e4)
    rates = [learning_rate(shape, float(s)) for s in (1, WARM_UP / 2, WARM_UP, 1e4, 3e4)]
    expected = [1e-4, 5e-3, 0.01, 0.01 / np.sqrt(2), 0.005]
    assert rates == pytest.approx(expected, rel=0.01)
    assert PACE.decay_steps == 1000.0


def test_weights_are_a_function_of_key_and_counter():
    """They have the documented deviations, and the averages start from them."""
    shape, L = Shape(192, 32, 64, 4000, 4e-3, 3e4), 12
    networks = [empty_network(shape, L, key) for key in (1, 1, 1, 2)]
    for network, counter in zip(networks, (0, 0, 7, 0), strict=True):
        begin(shape, network, counter)
    first, again, later, other = (network.parameters for network in networks)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first[WEIGHTS], first[LONG])
    np.testing.assert_array_equal(first[WEIGHTS], first[SHORT])
    for different in (later, other):
        shared = (first[WEIGHTS] == different[WEIGHTS]) & (first[WEIGHTS] != 0)
        assert shared.sum() < 5
    parts = PlainNetwork(shape, L).parts(first[WEIGHTS].astype(float))
    assert parts["W1"].std() == pytest.approx(np.sqrt(1.5 / L), rel=0.05)
    assert parts["W2"].std() == pytest.approx(np.sqrt(1.5 / 192), rel=0.05)
    assert parts["b1"].std() == pytest.approx(0.5, rel=0.2)
    assert not any(parts[name].any() for name in ("b2", "w3", "b3", "skip", "U"))


OFFSETS = {1: [-0.2, -1.7], 3: [-0.4, -1.5, -2.2], 20: np.linspace(-4.0, -2.0, 20)}


class Classes(Stream):
    """The events of `Stream`, each of a class; labels are independent, so lags are no inputs."""

    def __init__(self, n_classes, *, weighted=False):
        super().__init__(weighted=weighted)
        self.labels = np.random.default_rng(1).integers(0, n_classes, N_EVENTS)
        self.ring.ring[1][:N_EVENTS] = self.labels


@pytest.mark.parametrize(
    ("outputs", "shape", "weighted"),
    [
        (1, SMALL, True),
        pytest.param(3, PLAIN, True, marks=pytest.mark.thorough),
        (20, SMALL, False),
    ],
)
def test_a_step_of_classes_against_numpy(shape, outputs, weighted):
    """The gradient of the log loss, with the draws' labels and weights; and a step along it."""
    shape, offsets = shape._replace(outputs=outputs), np.array(OFFSETS[outputs])
    stream = Classes(len(offsets), weighted=weighted)
    after = stepped(learn_class_network, stream, shape, offsets, tuple(PACE))
    plain = PlainClassNetwork(shape, stream.ring.n_columns, offsets)
    check_step(plain, stream, shape, stream.labels, *after)


@pytest.mark.parametrize("outputs", OFFSETS)
def test_probabilities_against_numpy(outputs):
    """Probabilities by both averages of the weights, which sum to one."""
    shape, offsets = SMALL._replace(outputs=outputs), np.array(OFFSETS[outputs])
    stream = Classes(len(offsets))
    network, _, scratch = stepped(learn_class_network, stream, shape, offsets, tuple(PACE))
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
        network, _, _ = stepped(learn_class_network, stream, PLAIN, offsets, tuple(pace), warm=300)
        weights = network.parameters
        sizes.append(np.abs(weights[WEIGHTS]).sum())
        distances.append(np.abs(weights[WEIGHTS] - weights[LONG]).sum())
    assert sizes[1] < 0.5 * sizes[0]
    assert distances[2] < 0.5 * distances[0]


def test_only_the_range_moves():
    """Weights before and after the range keep their bits; averages move by their own fractions."""
    p = np.random.default_rng(0).normal(size=(5, 64)).astype(np.float32)
    p[GRADIENT_SQUARES] **= 2
    before = p.copy()
    descend(p, np.ones((1, 64), np.float32), 16, 32, 1.0, 0.1, 0.0)
    assert (p[WEIGHTS, 16:32] != before[WEIGHTS, 16:32]).all()
    moved = p[WEIGHTS].astype(float)
    average(p, 16, 32, 1.0, 0.25)
    np.testing.assert_allclose(p[SHORT, 16:32], moved[16:32], atol=1e-6)
    expected = 0.75 * before[LONG] + 0.25 * moved
    np.testing.assert_allclose(p[LONG, 16:32], expected[16:32], atol=1e-6)
    np.testing.assert_array_equal(p[:, :16], before[:, :16])
    np.testing.assert_array_equal(p[:, 32:], before[:, 32:])


def test_without_gradient():
    """A weight without a gradient stays, and neither its moments nor squares fade into nothing."""
    p = np.full((5, 16), 0.5, np.float32)
    p[[MOMENTS, GRADIENT_SQUARES]] = 0.0
    for step in range(1, 3000):
        descend(p, np.zeros((1, 16), np.float32), 0, 16, float(step), 0.01, 0.0)
    assert p[WEIGHTS] == pytest.approx(0.5, abs=1e-6)
    assert (p[GRADIENT_SQUARES] >= np.float32(FLOOR)).all()
    assert (p[MOMENTS] > np.finfo(np.float32).tiny).all()


def matrix(m, n, seed=0):
    return np.random.default_rng(seed).normal(size=(m, n)).astype(np.float32)


@pytest.mark.parametrize("zeros", [0.0, 0.7, 1.0])
def test_sparse_product(zeros):
    """The same product; rows of B that meet a zero don't matter, even if they are nan."""
    A, B, bias, C = matrix(5, 7), matrix(7, 128, 1), matrix(1, 128, 2), matrix(5, 128, 3)
    A[np.random.default_rng(4).random(A.shape) < zeros] = 0.0
    A[:, 3] = 0.0
    expected = A @ B + bias
    B[3] = np.nan
    set_sparse_product(A, B, bias, C)
    np.testing.assert_allclose(C, expected, rtol=1e-4, atol=1e-5)
