"""One step of a network, against plain numpy with derivatives by differences."""

import numpy as np
import pytest
from kernels.plain_network import BATCH, PlainNetwork, deviations, quantiles, shares

from iln_stream.kernels.columns import join, no_statistics
from iln_stream.kernels.network_events import (
    PACE,
    WARM_UP,
    draw,
    learn_network,
    learning_rate,
    predict_network,
)
from iln_stream.kernels.networks import (
    LONG,
    SHORT,
    WEIGHTS,
    Network,
    Shape,
    begin,
    differentiate,
    forward,
    n_fixed,
    n_of_column,
    n_scratch,
    propagate,
    scratch_of,
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


@pytest.fixture(scope="module")
def stream():
    return Stream()


def stepped(stream, shape, warm=20):
    """A network after some steps on the last event, and its parameters before the last of them."""
    network = empty_network(shape, stream.ring.n_columns)
    scratch = np.zeros(n_scratch(shape, stream.ring.n_columns), np.float32)
    begin(shape, network, 0)
    arguments = (
        tuple(shape), tuple(network), stream.ring.ring, stream.ring.encoding, stream.target, scratch
    )  # fmt: skip
    for _ in range(warm):
        learn_network(*arguments)
    before = network.parameters.copy()
    learn_network(*arguments)
    return network, before, scratch


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [SMALL, PLAIN])
def test_a_step_against_numpy(shape, weighted):
    """Weights, means of gradients and of squares after a step; derivatives are by differences.

    Each event of the batch counts as its weight.
    """
    stream = Stream(weighted=weighted)
    network, before, scratch = stepped(stream, shape)
    drawn = np.empty(BATCH, np.int64)
    draw(shape, network, N_EVENTS, 256, drawn)
    plain = PlainNetwork(shape, stream.ring.n_columns)
    plain.event_weights = stream.weights[drawn]
    z, phi, t = stream.batch(drawn)
    gradient = plain.gradient(before[WEIGHTS], z, phi, t)
    views = scratch_of(scratch, shape, stream.ring.n_columns)
    assert abs(gradient).max() > 0.01
    np.testing.assert_allclose(views.gradient[0], gradient, atol=1e-5)
    after = plain.stepped(before, gradient, step=21)
    np.testing.assert_allclose(network.parameters[:3], after[:3], atol=1e-5)


@pytest.mark.parametrize("shape", [SMALL, PLAIN])
def test_predictions_against_numpy(stream, shape):
    """Those of the weights and of both averages, in the target's units."""
    network, _, scratch = stepped(stream, shape)
    plain, ring = PlainNetwork(shape, stream.ring.n_columns), stream.ring
    network.parameters[SHORT] *= 0.9
    network.parameters[LONG] *= 0.8
    p = np.empty(3)
    for i in (3, 50, 88):
        ring.look(stream.rows[i])
        predict_network(
            tuple(shape),
            tuple(network),
            np.array([WEIGHTS, SHORT, LONG]),
            ring.encoding,
            ring.inputs,
            scratch,
            p,
        )
        z, phi, _ = stream.batch(np.array([i]))
        rows = [network.parameters[k].astype(float) for k in (WEIGHTS, SHORT, LONG)]
        expected = [plain.outputs(w, z, phi)[0, 0] / 3 for w in rows]
        assert p == pytest.approx(expected, abs=1e-5)
        assert len(set(p)) == 3


def test_errors_count_linearly_beyond_three_deviations(stream):
    """The newest event's error is larger, and moves the output's bias by 3 / 16 at most."""
    shape, L = PLAIN, stream.ring.n_columns
    network = empty_network(shape, L)
    scratch = scratch_of(np.zeros(n_scratch(shape, L), np.float32), shape, L)
    w = weights_of(network.parameters[WEIGHTS], shape)  # all are 0, and so are outputs
    scratch.errors[0, 0] = 5.5
    forward(shape, w, scratch.inputs, stream.ring.encoding, scratch, BATCH)
    differentiate(scratch)
    propagate(shape, w, stream.ring.encoding, scratch)
    assert weights_of(scratch.gradient[0], shape).b3[0, 0] == pytest.approx(-3 / BATCH)


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
