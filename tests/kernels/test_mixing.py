"""Mixing of predictions: ML-Poly, its form for the log loss, and the log-linear correction."""

import numpy as np
import pytest
from kernels.plain import Rule, rule_weights, running_mean

from iln_stream.kernels.mixing import (
    DISCOUNT,
    EVENTS,
    FORGETTING,
    GREATEST,
    LARGEST_RATIO,
    LEAST_PROBABILITY,
    ORDINARY_ERROR,
    PRECISION,
    REGRET,
    VARIATION,
    WEIGHT,
    correct,
    fill,
    log_frequencies,
    mix,
    mixed,
    mixed_of,
    newton_step,
    score,
    update_regrets,
    update_rule,
)


def equal_table(K):
    table = np.zeros((4, K))
    table[WEIGHT] = 1.0 / K
    return table


@pytest.mark.parametrize("squared", [True, False])
def test_regrets_are_by_the_slope_of_the_loss(squared):
    """r is the loss's slope at the mixture times its distance to the expert, clipped at 2.

    All of it times the weight.
    """
    rng = np.random.default_rng(0)
    for unit, w in ((0.01, 1.0), (1.0, 0.3), (30.0, 20.0)):
        state, p = equal_table(6), 3.0 * rng.normal(size=6)
        mixture, t = rng.normal(size=2).tolist()
        update_regrets(state, p, mixture, t, w, unit, squared, 1.0)
        slope = (mixture - t) / unit if squared else np.sign(mixture - t)
        r = w * np.clip(slope * (mixture - p) / unit, -2.0, 2.0)
        assert state[REGRET] == pytest.approx(r)
        assert state[WEIGHT] == pytest.approx(rule_weights([r]))


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize(("kind", "n"), [("normal", 1_200), ("wild", 150), ("exact at first", 150)])
def test_the_rule_is_in_units_of_ordinary_errors(squared, kind, n):
    """The unit is the mixture's mean |error| over 1,000 events; while it is 0 the regrets stay as
    they are. Weights are a function of all regrets before.
    """
    rng = np.random.default_rng(1)
    state, record, rule = equal_table(4), np.zeros(2), Rule(4, squared)
    for i in range(n):
        p, t = rng.normal(size=4), rng.normal()
        if kind == "wild":
            t = rng.standard_t(1.1) ** 3
        if kind == "exact at first" and i < 3:
            p[:] = t = 0.0
        mixture = mixed(state, p)
        assert mixture == pytest.approx(rule.weights @ p, abs=1e-9)
        update_rule(state, record, p, mixture, t, 1.0, squared, DISCOUNT)
        rule.update(p, mixture, t)
        assert state[WEIGHT] == pytest.approx(rule.weights, abs=1e-9)
    assert record[EVENTS] == n
    assert record[ORDINARY_ERROR] == pytest.approx(running_mean(rule.errors, 1_000))


def run_rule(P, t, squared, discount=1.0):
    """Return the rule's state; by expert, the bound of docs/paper.md on regrets without discount,
    and how much more loss the mixture had; and whether a regret was clipped."""
    K = P.shape[1]
    state, record, excess = equal_table(K), np.zeros(2), np.zeros(K)
    first, ratio, clipped = np.full(K, np.nan), np.ones(K), False
    for p, y in zip(P, t, strict=True):
        mixture, before = mixed(state, p), state.copy()
        update_rule(state, record, p, mixture, y, 1.0, squared, discount)
        r = state[REGRET] - before[REGRET]
        clipped |= abs(r).max() > 1.999
        again = (before[GREATEST] > 0.0) & (r != 0.0)
        ratio[again] = np.maximum(ratio, r**2 / before[GREATEST])[again]
        first = np.where(np.isnan(first) & (r != 0.0), abs(r), first)
        excess += abs(mixture - y) - abs(p - y)
    D = state[VARIATION] + state[GREATEST]
    potential = np.sum(0.5 + (1.0 + 2.0 * ratio) * np.log(D / (2.0 * first**2)))
    return state, np.sqrt(D * potential), excess, clipped


@pytest.mark.parametrize("squared", [True, False])
def test_regrets_in_units_are_bounded(squared):
    """Without discount and clipping the bound of docs/paper.md holds, for streams of any scale."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        turns = (np.arange(2_000) // rng.integers(50, 500))[:, None] + np.arange(3)
        errors = np.array([0.6, 0.8, 1.2])[turns % 3] * rng.choice([-1.0, 1.0], size=(2_000, 1))
        t = rng.normal(size=2_000)
        state, bound, _, clipped = run_rule(
            10.0**seed * (t[:, None] + errors), 10.0**seed * t, squared
        )
        assert not clipped
        assert (state[REGRET] <= bound).all()
        assert bound.max() < 500.0  # a quarter of an ordinary error an event


def test_losses_have_no_bound_where_the_unit_grows():
    """The expert that is better while errors are small keeps its weight while they grow: the excess
    of the loss is 5.12 for each event, however many there are, and the bound in units holds. With
    the discount, the other leads within a thousand events."""
    T = 20_000
    phase = np.maximum(np.arange(T) / (T / 2.0) - 1.0, 0.0)
    errors = np.where(phase[:, None] > 0.0, [1.5, 1.0], [1.0, 1.5])
    signs = np.where(np.arange(T) % 2, -1.0, 1.0)
    P = (100.0**phase * signs)[:, None] * errors
    state, bound, excess, clipped = run_rule(P, np.zeros(T), squared=False)
    assert not clipped
    assert (state[REGRET] <= bound).all()
    assert excess[1] == pytest.approx(5.12 * T, rel=0.01)
    state, *_ = run_rule(P[: T // 2 + 1_000], np.zeros(T // 2 + 1_000), False, DISCOUNT)
    assert state[WEIGHT, 1] > 0.5


@pytest.mark.parametrize("weighted", [True, False])
def test_those_that_do_not_count_adopt_the_mixture(weighted):
    """Even nan does no harm there; without weight, the others have equal shares."""
    table = np.zeros((4, 4))
    table[WEIGHT] = [0.1, 0.3, 0.6, 0.0] if weighted else [0.0, 0.0, 1.0, 0.0]
    p, counts = np.array([1.0, 2.0, np.nan, 7.0]), np.array([True, True, False, False])
    value = mixed_of(table, p, counts)
    assert value == pytest.approx(1.75 if weighted else 1.5)
    assert p.tolist() == [1.0, 2.0, value, value]
    assert mixed_of(table, p, np.zeros(4, bool)) == 0.0
    assert p.tolist() == [0.0] * 4


def test_regrets_of_the_log_loss_by_hand():
    """Regrets p / q - 1 are discounted, summed and at most 5; those above 0 are the weights."""
    table, mixture = equal_table(3), np.zeros(2)
    p = np.array([[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]])
    mix(table, p, 3, mixture)
    np.testing.assert_allclose(mixture, [0.5, 0.5])
    score(table, p, mixture, 0, 1.0)
    np.testing.assert_allclose(table[REGRET], [0.8, 0.0, -0.8])
    np.testing.assert_allclose(table[WEIGHT], [1.0, 0.0, 0.0])
    score(table, p, np.array([0.01, 0.99]), 0, 1.0)  # 89, 49 and 9 times as probable
    np.testing.assert_allclose(table[REGRET], DISCOUNT * np.array([0.8, 0.0, -0.8]) + 5.0)
    np.testing.assert_allclose(table[VARIATION], DISCOUNT * np.array([0.64, 0.0, 0.64]) + 25.0)
    np.testing.assert_allclose(table[GREATEST], 25.0)


@pytest.mark.parametrize("weights", [[0.3, 0.1, 0.6], [0.0, 0.0, 1.0]])
def test_sleepers_adopt_the_others_mixture(weights):
    """They have no weight in it and no regret; without any weight the others count alike."""
    table, mixture = equal_table(3), np.zeros(2)
    table[WEIGHT] = weights
    p = np.array([[0.9, 0.1], [0.5, 0.5], [np.nan, np.nan]])
    mix(table, p, 2, mixture)
    np.testing.assert_allclose(mixture, [0.8, 0.2] if weights[0] else [0.7, 0.3])
    np.testing.assert_array_equal(p[2], mixture)
    score(table, p, mixture, 1, 1.0)
    assert table[REGRET, 2] == 0.0


def test_a_weight_multiplies_the_loss():
    """Regrets are weighted after they are clipped; one of weight 0 only lets time pass."""
    table, mixture = equal_table(3), np.array([0.1, 0.9])
    p = np.array([[0.9, 0.1], [0.2, 0.8], [0.1, 0.9]])
    score(table, p, mixture, 0, 3.0)
    np.testing.assert_allclose(table[REGRET], [15.0, 3.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(table[VARIATION], [225.0, 9.0, 0.0], atol=1e-12)
    score(table, p, mixture, 1, 0.0)
    np.testing.assert_allclose(table[REGRET], DISCOUNT * np.array([15.0, 3.0, 0.0]), atol=1e-12)


def test_experts_probabilities():
    """Softmax of clipped scores at each sharpness, frequencies, and a least share for each class;
    the networks' rows only get the latter.
    """
    scores = np.array([[0.2, 0.9, -3.0], [5.0, 0.1, 0.3]])
    sharpness, counts = np.array([2.0, 7.0]), np.array([3, 5, 0])
    p = np.zeros((6, 3))
    p[5] = [0.5, 0.5, 0.0]
    fill(scores, sharpness, counts, p)
    expected = np.zeros((6, 3))
    for s, beta in enumerate(sharpness):
        raised = np.exp(beta * np.clip(scores, -0.5, 1.5))
        expected[2 * s : 2 * s + 2] = raised / raised.sum(axis=1, keepdims=True)
    expected[4] = np.array([4, 6, 1]) / 11
    expected[5] = [0.5, 0.5, 0.0]
    np.testing.assert_allclose(
        p, (1 - LEAST_PROBABILITY) * expected + LEAST_PROBABILITY / 3, rtol=1e-12
    )


def test_scores_that_are_equal_or_huge():
    """Equal scores are equal probabilities, and no exponential overflows."""
    p = np.zeros((4, 2))
    fill(np.array([[0.3, 0.3], [1e300, -1e300]]), np.array([24.0]), np.array([1, 1]), p)
    np.testing.assert_allclose(p[0], 0.5)
    assert np.isfinite(p).all()
    assert p[1, 0] > 0.999


def test_log_frequencies():
    """Half an event is added to each class."""
    offsets = np.zeros(3)
    log_frequencies(np.array([7, 2, 0]), offsets)
    np.testing.assert_allclose(np.exp(offsets), np.array([7.5, 2.5, 0.5]) / 10.5)


class Correction:
    """Weights and covariance of m experts, and what a prediction left."""

    def __init__(self, m, C):
        self.weights, self.covariance = np.zeros(m), np.eye(m) / PRECISION
        self.members, self.ratios, self.q = np.arange(m), np.zeros((m, C)), np.zeros(C)

    def predict(self, p, base):
        correct(self.weights, p, self.members, base, self.ratios, self.q)
        return self.q

    def learn(self, label, w=1.0):
        newton_step(self.weights, self.covariance, self.ratios, self.q, label, w)


def simplex(rng, K, C, spread=1.0):
    """K probability vectors."""
    raised = np.exp(spread * rng.normal(size=(K, C)))
    return raised / raised.sum(axis=1, keepdims=True)


def test_a_correction_by_hand():
    """Powers of clipped ratios, with a least share for each class; members select the experts."""
    rng = np.random.default_rng(0)
    p, base = simplex(rng, 4, 3), simplex(rng, 1, 3)[0]
    p[2] = [1.0 - 2e-9, 1e-9, 1e-9]
    weights, members = np.array([0.7, -0.2]), np.array([0, 2])
    ratios, q = np.zeros((2, 3)), np.zeros(3)
    correct(weights, p, members, base, ratios, q)
    expected = np.clip(np.log(p[members] / base), -LARGEST_RATIO, LARGEST_RATIO)
    assert (expected == -LARGEST_RATIO).any()
    np.testing.assert_allclose(ratios, expected, rtol=1e-9)
    raised = base * np.exp(weights @ expected)
    np.testing.assert_allclose(
        q, (1 - LEAST_PROBABILITY) * raised / raised.sum() + LEAST_PROBABILITY / 3, rtol=1e-9
    )


def test_a_step_by_hand():
    """The covariance is the inverse of the prior's precision and all weighted curvature; the step
    is its product with the gradient of the weighted log loss.
    """
    rng = np.random.default_rng(1)
    one, precision = Correction(4, 3), PRECISION * np.eye(4)
    for w in (1.0, 0.0, 0.5):
        q = one.predict(simplex(rng, 4, 3), simplex(rng, 1, 3)[0]).copy()
        before, label = one.weights.copy(), int(rng.integers(3))
        if np.trace(np.linalg.inv(precision)) * PRECISION < 4:
            precision *= FORGETTING
        centred = one.ratios - (one.ratios @ q)[:, None]
        precision += w * centred @ np.diag(q) @ centred.T
        one.learn(label, w)
        np.testing.assert_allclose(one.covariance, np.linalg.inv(precision), rtol=1e-9)
        step = w * np.linalg.solve(precision, centred[:, label])
        np.testing.assert_allclose(one.weights, before + step, rtol=1e-9)


@pytest.mark.parametrize("w", [1e3, 1e6])
def test_a_large_weight_moves_the_odds_by_a_bounded_step(w):
    """The step has the direction of the gradient's, and changes the label's log odds by 1."""
    one = Correction(1, 2)
    base, p = np.array([0.99, 0.01]), np.array([[0.6, 0.4]])
    one.predict(p, base)
    slope = one.ratios[0, 1] - one.ratios[0, 0]
    one.learn(1, w)
    assert 0.0 < one.weights[0] * slope == pytest.approx(1.0)


STREAMS = {
    "equal": lambda rng, t: np.full((6, 3), 1 / 3),
    "collinear": lambda rng, t: np.repeat(simplex(rng, 2, 3), 3, axis=0),
    "bursts": lambda rng, t: simplex(rng, 6, 3, spread=4.0 if t % 2_000 < 50 else 1e-4),
    "certain": lambda rng, t: np.eye(3)[rng.integers(3, size=6)] * (1 - 3e-5) + 1e-5,
}


@pytest.mark.parametrize("name", STREAMS)
def test_the_correction_outlives_its_forgetting(name):
    """After 20,000 events, 20 times its memory, the covariance is symmetric, has no negative
    eigenvalue, and at most the prior's trace; weights and predictions are finite.
    """
    rng, one = np.random.default_rng(3), Correction(6, 3)
    for t in range(20_000):
        p = STREAMS[name](rng, t)
        q = one.predict(p, p.mean(axis=0))
        one.learn(int(rng.random() * 3) if t % 2 else int(p[0].argmax()))
    np.testing.assert_array_equal(one.covariance, one.covariance.T)
    assert np.linalg.eigvalsh(one.covariance).min() > 0.0
    assert np.trace(one.covariance) <= 6 / PRECISION / FORGETTING * (1 + 1e-9)
    assert np.abs(one.weights).max() < 50.0
    assert q.min() >= LEAST_PROBABILITY / 3
