"""Ridge regressions, recursive and by replay, against normal equations that have no factor above 1.

Streams last 60 / (1 - forgetting) events where something is forgotten: 1 / forgetting multiplied so
often is 1e26, ten orders beyond 1 / eps.
"""

import numpy as np
import pytest
from kernels import plain
from kernels.streams import KINDS, rows

from iln_stream.kernels.activations import COS, RELU
from iln_stream.kernels.columns import ABSENT, join, no_statistics
from iln_stream.kernels.regression_event import StoredEvents
from iln_stream.kernels.ridges import (
    BLOCK,
    MOST_CLASSES,
    SCALE,
    STEPS,
    WAITING,
    ReplayStatistics,
    column,
    features,
    gradient,
    huber_weight,
    learn,
    learn_all,
    learn_blocks,
    learn_class_all,
    predict_all,
    predict_classes,
    replay,
    replay_classes,
    subtract,
    update_agop,
    update_class_agop,
)
from iln_stream.learners.infinite_layer.experts.rls_bank import (
    RLSState,
    initial_covariance,
    untrained_record,
)

RIDGE = 0.1


def whole(P, pending, record):
    """The covariance, (D, D)."""
    D = pending.shape[1]
    C = np.empty((D, D))
    for i in range(D):
        column(P, pending, record, i, C[i])
    return C


@pytest.mark.parametrize("activation", [COS, RELU])
@pytest.mark.parametrize(("d", "R"), [(0, 5), (1, 1), (3, 0), (4, 37), (9, 320)])
def test_features_and_their_gradient(d, R, activation):
    """Features are [units, 1, .3 v] and nothing behind them, gradients those of the chain rule.

    Without units too, without inputs, and where an input is 0 or no linear feature.
    """
    rng = np.random.default_rng(0)
    omega, b = rng.normal(size=(d, R)).astype(np.float32), rng.normal(size=R).astype(np.float32)
    v, linear, n = rng.normal(size=d), (np.arange(d) % 3 != 1).astype(float), R + 1 + d
    v[:1] = 0.0
    theta, phi, g = rng.normal(size=n + 3), np.full(n + 3, 7.0), np.empty(d)
    u, a = np.empty(R, np.float32), np.empty(R, np.float32)
    features(omega, b, activation, linear, v, u, phi)
    expected = plain.features(omega, b, activation == COS, linear, v)
    assert phi[:n] == pytest.approx(expected, abs=2e-5)
    assert (phi[n:] == 7.0).all()
    gradient(omega, activation, linear, theta, u, a, g)
    expected = plain.gradient(omega, b, activation == COS, linear, theta, v)
    assert g == pytest.approx(expected, rel=1e-5, abs=2e-5 * np.sqrt(R + 1) * 10)


@pytest.mark.parametrize("forgetting", [0.97, pytest.param(1.0, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_solve_their_normal_equations(kind, forgetting):
    """Weights and covariance are the normal equations' solution after many rows, the covariance
    exactly symmetric; a target counts as its weight times its Huber weight.
    """
    D, n, rng = 3 * BLOCK, 250 * WAITING, np.random.default_rng(4)
    P, pending, record = initial_covariance(D), np.zeros((WAITING, D)), untrained_record()
    theta, k, normal = np.zeros(D), np.empty(D), plain.Normal(D, forgetting, RIDGE, huber=2.0)
    for step, phi in enumerate(rows(kind, n, D, rng)):
        t, p = phi[:5].sum() + rng.normal(), rng.normal()
        t += 100.0 * (step % 50 == 49)
        w = [1.0, 0.0, 20.0, 0.5, 1.0][step % 5]
        learn(P, pending, theta, record, phi, k, t, p, w, forgetting, RIDGE, 2.0)
        normal.learn(phi, t, p, w)
    C, expected = whole(P, pending, record), normal.theta[:, 0]
    assert (C == C.T).all()
    product_with_inverse = C @ normal.A
    assert product_with_inverse == pytest.approx(np.eye(D), abs=1e-7)
    assert theta == pytest.approx(expected, abs=1e-7 * (1.0 + np.abs(expected).max()))


def test_settling_leaves_the_scale_at_one():
    """The common factor can't overflow: it returns to 1 when pending updates are made."""
    P, pending, record = initial_covariance(16), np.zeros((WAITING, 16)), untrained_record()
    for n in range(1, 2 * WAITING + 1):
        subtract(P, pending, record, np.zeros(16), 1.0, 0.9)
        assert record[SCALE] == pytest.approx(0.9 ** -(n % WAITING))
    assert P[0] == pytest.approx(0.9 ** (-2 * WAITING) / RIDGE)


@pytest.mark.parametrize(("n", "weight"), [(0, 1.0), (19, 1.0), (20, 0.2), (40, 0.2)])
def test_no_error_is_an_outlier_before_there_are_twenty(n, weight):
    """An error ten times the mean error has weight 1 among the first, and later 0.2."""
    record = untrained_record()
    for i in range(n):
        huber_weight(record, 0.5 * (-1.0) ** i, 2.0)
    assert huber_weight(record, -5.0, 2.0) == pytest.approx(weight)


def test_what_was_exact_does_not_make_all_else_outliers():
    """After targets that were constant, and so predicted exactly, the mean error begins anew.

    It stayed 0, and what came then had weight 1e-12 for good.
    """
    record = untrained_record()
    for error in [0.0] * 300 + [0.5] * 20:
        huber_weight(record, error, 2.0)
    assert huber_weight(record, 0.5, 2.0) == 1.0
    assert huber_weight(record, 5.0, 2.0) == pytest.approx(0.2)


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_invert_their_information(kind):
    """Each block's covariance inverts the recomputed information of weighted rows to the end,
    exactly symmetric, and the weights are finite.
    """
    B, N, forgetting, rng = 16, 3, 0.99, np.random.default_rng(3)
    P = np.tile(np.eye(B) / RIDGE, (N, 1, 1))
    blocks = plain.Blocks(N, B, forgetting, RIDGE, 1e9)
    theta, record, k = np.zeros(N * B), np.zeros(2), np.zeros(N * B)
    weights = rng.normal(size=N * B) / 10
    for step, phi in enumerate(rows(kind, 6_000, N * B, rng)):
        t, p, w = phi @ weights, theta @ phi, (1.0, 0.0, 20.0, 0.5)[step % 4]
        learn_blocks(P, theta, record, phi, k, t, p, w, forgetting, RIDGE, 1e9)
        blocks.learn(phi, t, p, w)
    assert np.isfinite(theta).all()
    for block, information in zip(P, blocks.A, strict=True):
        # Between two of its mirrorings a block is off by a rounding or two.
        assert block == pytest.approx(block.T, rel=1e-12, abs=1e-12 * np.abs(block).max())
        assert block @ information == pytest.approx(np.eye(B), abs=1e-7)


d, R, D = 3, 9, 16
ACTIVATION = np.array([COS, RELU, COS])
LINEAR = np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
FORGETTING = np.array([1.0, 0.9, 0.97])
K = len(ACTIVATION)


@pytest.fixture
def bank():
    """omega, b, activation and linear of K experts."""
    rng = np.random.default_rng(0)
    omega = rng.normal(size=(K, d, R)).astype(np.float32)
    return omega, rng.normal(size=(K, R)).astype(np.float32), ACTIVATION, LINEAR


def plain_features(bank, v):
    omega, b, activation, linear = bank
    units = zip(omega, b, activation == COS, linear, strict=True)
    return np.array([plain.features(*unit, v, D) for unit in units])


def plain_gradient(bank, k, theta, v):
    omega, b, activation, linear = (part[k] for part in bank)
    return plain.gradient(omega, b, activation == COS, linear, theta, v)


def test_each_expert_predicts_and_has_its_agop(bank):
    """p_k is theta_k times the expert's own features, held within two units; its gradients join its
    own average outer product.
    """
    omega, _, activation, linear = bank
    rng = np.random.default_rng(1)
    theta = rng.normal(size=(K, D)) / 8
    theta[1] *= 100.0
    phi, u, p = np.zeros((K, D)), np.empty((K, R), np.float32), np.empty(K)
    agop, expected = np.tile(np.eye(d), (K, 1, 1)), np.tile(np.eye(d), (K, 1, 1))
    beyond = 0
    for v in rng.normal(size=(20, d)):
        predict_all(*bank, theta, v, u, phi, p)
        assert phi == pytest.approx(plain_features(bank, v), abs=2e-5)
        unbounded = np.vecdot(theta, plain_features(bank, v))
        assert p == pytest.approx(np.clip(unbounded, -2.0, 2.0), abs=1e-3)
        beyond += abs(p[1]) == 2.0
        update_agop(omega, activation, linear, theta, u, 0.2, agop)
        for k in range(K):
            g = plain_gradient(bank, k, theta[k], v)
            expected[k] = 0.8 * expected[k] + 0.2 * np.outer(g, g)
    assert beyond > 5
    assert agop == pytest.approx(expected, rel=1e-4, abs=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_agop_leaves_out_a_gradient_that_is_not_finite(bank, value):
    """The other experts' outer products go on."""
    omega, _, activation, linear = bank
    phi, u, p = np.zeros((K, D)), np.empty((K, R), np.float32), np.empty(K)
    agop, theta = np.tile(np.eye(d), (K, 1, 1)), np.ones((K, D))
    before = agop.copy()
    predict_all(*bank, theta, np.ones(d), u, phi, p)
    theta[0] = value
    update_agop(omega, activation, linear, theta, u, 0.5, agop)
    assert (agop[0] == before[0]).all()
    assert np.isfinite(agop).all()
    assert (agop[1:] != before[1:]).any()


def test_each_expert_solves_its_own_normal_equations():
    """All learn one weighted target, each with its features, forgetting and Huber weights."""
    rng = np.random.default_rng(2)
    P, pending = np.tile(initial_covariance(D), (K, 1)), np.zeros((K, WAITING, D))
    theta, record = np.zeros((K, D)), np.tile(untrained_record(), (K, 1))
    experts = [plain.Normal(D, forgetting, RIDGE, huber=1.5) for forgetting in FORGETTING]
    for n in range(300):
        phi, p = rng.normal(size=(K, D)), rng.normal(size=K)
        t, w = rng.standard_t(2.0), [1.0, 0.0, 0.3, 20.0][n % 4]
        learn_all(P, pending, theta, record, phi, p, t, w, FORGETTING, RIDGE, 1.5, np.empty(D))
        for k, expert in enumerate(experts):
            expert.learn(phi[k], t, p[k], w)
            if n in (0, 1, 25, 299):
                assert theta[k] == pytest.approx(expert.theta[:, 0], abs=1e-9)


@pytest.mark.parametrize(("C", "s"), [(0, 1), (1, 1), (4, 1), (3 * MOST_CLASSES, 3)])
def test_scores_and_agop_are_those_of_all_classes(bank, C, s):
    """p[k, c] = theta[k, c].phi_k, unbounded; an expert's AGOP sums over all classes, or over every
    s-th of many, another one at each event."""
    omega, b, activation, linear = bank
    rng = np.random.default_rng(C)
    theta, agop = rng.normal(size=(K, C, D)) / 4, np.tile(np.eye(d), (K, 1, 1))
    phi, u, p = np.zeros((K, D)), np.empty((K, R), np.float32), np.empty((K, C))
    expected = agop.copy()
    for n, v in enumerate(rng.normal(size=(10, d))):
        predict_classes(omega, b, activation, linear, theta, v, u, phi, p)
        update_class_agop(omega, activation, linear, theta, u, 0.3, agop, n)
        scores = np.einsum("kcd,kd->kc", theta, plain_features(bank, v))
        assert p == pytest.approx(scores, abs=1e-4)
        for k in range(K):
            gradients = [plain_gradient(bank, k, of_class, v) for of_class in theta[k, n % s :: s]]
            expected[k] = 0.7 * expected[k] + 0.3 * s * sum(np.outer(g, g) for g in gradients)
    assert agop == pytest.approx(expected, rel=1e-4, abs=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("kind", KINDS)
def test_all_classes_solve_their_normal_equations(kind):
    """The targets are 1 for the observed class and 0 for the others, on each expert's features;
    after 6,000 weighted events scores and covariances still solve the normal equations.
    """
    C, n, rng = 3, WAITING * 750, np.random.default_rng(4)
    P, pending = np.tile(initial_covariance(D), (2, 1)), np.zeros((2, WAITING, D))
    theta, record = np.zeros((2, C, D)), np.tile(untrained_record(), (2, 1))
    phi = np.stack([rows(kind, n, D, rng), rng.normal(size=(n, D))], axis=1)
    labels, w = rng.integers(C, size=n), np.resize([1.0, 0.0, 20.0, 0.5], n)
    for row, label, weight in zip(phi, labels.tolist(), w.tolist(), strict=True):
        learn_class_all(P, pending, theta, record, row, label, weight, np.empty(D))
    for k, Phi in enumerate(phi.transpose(1, 0, 2)):
        information = RIDGE * np.eye(D) + (w * Phi.T) @ Phi
        covariance = whole(P[k], pending[k], record[k])
        assert (covariance == covariance.T).all()
        assert covariance @ information == pytest.approx(np.eye(D), abs=1e-6)
        expected = np.linalg.solve(information, (w * Phi.T) @ np.eye(C)[labels]).T
        assert theta[k] == pytest.approx(expected, abs=1e-7 * (1.0 + np.abs(expected).max()))


SIZE, LAGS, SCALE_OF_TARGETS = 50, 2, np.array([0.4, 3.0])


def stored_events(n_lags):
    """Events of which one column lacks values, their statistics, and the columns in plain numpy."""
    rng = np.random.default_rng(0)
    weights = rng.choice([0.0, 0.5, 1.0, 20.0], size=SIZE)
    stored = StoredEvents(
        rng.normal(size=(d, SIZE)), rng.normal(size=(SIZE, n_lags)), rng.normal(size=SIZE), weights
    )
    stored.columns[1] += 1000.0
    stored.columns[1, rng.random(SIZE) < 0.3] = ABSENT
    stats, known = no_statistics(d), [plain.Column() for _ in range(d)]
    for row in stored.columns.T:
        join(row.copy(), stats, 0)
        plain.joined(known, row)
    return stored, stats, known


def described(stored, i, known):
    """v = [targets before the event, deviations], with wild targets within bounds."""
    z = [c.deviation(x, c.joined) for c, x in zip(known, stored.columns[:, i], strict=True)]
    return np.array([3.0 * plain.scaled(lag, SCALE_OF_TARGETS) for lag in stored.lags[i]] + z)


def candidate(n_inputs, *shape):
    """An untrained regression with features of its own."""
    rng = np.random.default_rng(1)
    omega, b = rng.normal(size=(n_inputs, R)).astype(np.float32), rng.normal(size=R)
    state = initial_covariance(D), np.zeros((WAITING, D)), np.zeros(shape), untrained_record()
    return RLSState(omega, b.astype(np.float32), *state)


RANGES = pytest.mark.parametrize(("first", "last"), [(3, 3), (0, 30), (40, 70)])
"""No events, those before the ring is full, and around its end."""


@pytest.mark.parametrize(("activation", "forgetting"), [(COS, 1.0), (RELU, 0.97)])
@RANGES
def test_replay_solves_the_normal_equations_of_the_events(activation, forgetting, first, last):
    """A candidate has then learned events first..last - 1 of a ring; its |errors| are summed.

    Both by the events' weights.
    """
    stored, stats, known = stored_events(LAGS)
    stored.lags[7], stored.y[11] = 1e9, -1e9
    new, linear = candidate(LAGS + d, D), np.array([0.0, 0.0, 1.0, 1.0, 1.0])
    frame = ReplayStatistics(stats, SCALE_OF_TARGETS)
    lost = replay(stored, first, last, frame, new, activation, linear, forgetting, RIDGE, 2.0)
    normal, expected = plain.Normal(D, forgetting, RIDGE, huber=2.0), 0.0
    for i in range(first, last):
        v = described(stored, i % SIZE, known)
        phi = plain.features(new.omega, new.b, activation == COS, linear, v, D)
        t = plain.scaled(stored.y[i % SIZE], SCALE_OF_TARGETS)
        p, w = np.clip(phi @ normal.theta[:, 0], -2.0, 2.0), stored.weights[i % SIZE]
        expected += w * abs(t - p)
        normal.learn(phi, t, p, w)
    assert new.record[STEPS] == last - first
    assert lost == pytest.approx(expected, rel=1e-5, abs=1e-4)
    assert new.theta == pytest.approx(normal.theta[:, 0], abs=1e-4)


@pytest.mark.parametrize("activation", [COS, RELU])
@RANGES
def test_replay_learns_the_stored_classes(activation, first, last):
    """A candidate has then learned the weighted classes of events first..last - 1."""
    C, linear = 2, np.array([0.0, 1.0, 0.0])
    stored, stats, known = stored_events(0)
    stored.y[:] = np.random.default_rng(2).integers(0, C, SIZE)
    new, normal = candidate(d, C, D), plain.Normal(D, n_targets=C)
    replay_classes(stored, first, last, stats, new, activation, linear)
    for i in range(first, last):
        v = described(stored, i % SIZE, known)
        phi = plain.features(new.omega, new.b, activation == COS, linear, v, D)
        normal.learn(phi, np.eye(C)[int(stored.y[i % SIZE])], w=stored.weights[i % SIZE])
    assert new.theta == pytest.approx(normal.theta.T, abs=1e-4)
