import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.plain import Rule, faded, rule_weights

from iln_stream.kernels.mixing import (
    DISCOUNT,
    EVENTS,
    GREATEST,
    ORDINARY_ERROR,
    REGRET,
    VARIATION,
    WEIGHT,
    mixed,
    mixed_of,
    normalise,
    regret,
    update_regrets,
    update_rule,
)

LIFETIME = int(60 / (1 - DISCOUNT))


def fresh(K):
    """The state of a rule that has scored nothing."""
    state = np.zeros((4, K))
    state[WEIGHT] = 1.0 / K
    return state


@settings(deadline=None, max_examples=50)  # the first call compiles
@given(
    st.lists(st.tuples(st.integers(0, 5), st.floats(-1e6, 1e6)), min_size=1, max_size=9).filter(
        lambda experts: any(weight for weight, _ in experts)
    )
)
def test_mixed_is_the_weighted_mean(experts):
    """Weights need not sum to one, and may be 0."""
    weights, p = np.array(experts, float).T
    state = fresh(len(p))
    state[WEIGHT] = weights
    assert mixed(state, p) == pytest.approx(np.average(p, weights=weights), abs=1e-8)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(*[st.sampled_from([-2.0, -0.3, 0.0, 1e-9, 0.7, 2.0])] * 3), max_size=30),
    st.sampled_from([1.0, 0.9, 0.0]),
)
def test_weights_are_a_function_of_all_regrets(rs, discount):
    """Regrets, variations, largest squares and so the weights are discounted sums over all events.

    Weights are equal if no expert has positive regret.
    """
    state = fresh(3)
    for r in rs:
        for i in range(3):
            regret(state, i, r[i], discount)
        normalise(state)
    r = np.array(rs).reshape(-1, 3)
    assert state[REGRET] == pytest.approx(faded(r, discount).sum(axis=0), abs=1e-12)
    assert state[VARIATION] == pytest.approx(faded(r**2, discount).sum(axis=0), abs=1e-12)
    assert state[GREATEST] == pytest.approx(faded(r**2, discount).max(axis=0, initial=0.0))
    if (np.abs(state[REGRET]) > 1e-12).all():  # else rounding decides
        assert state[WEIGHT] == pytest.approx(rule_weights(r, discount))
    assert state[WEIGHT].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("squared", [True, False])
def test_regrets_are_by_the_slope_of_the_loss(squared):
    """r is the loss's slope at the mixture times its distance to the expert, clipped at 2.

    All of it times the weight.
    """
    rng = np.random.default_rng(0)
    for unit, w in ((0.01, 1.0), (1.0, 0.3), (30.0, 20.0)):
        state, p = fresh(6), 3.0 * rng.normal(size=6)
        mixture, t = rng.normal(size=2).tolist()
        update_regrets(state, p, mixture, t, w, unit, squared, 1.0)
        slope = (mixture - t) / unit if squared else np.sign(mixture - t)
        r = w * np.clip(slope * (mixture - p) / unit, -2.0, 2.0)
        assert state[REGRET] == pytest.approx(r)
        assert state[WEIGHT] == pytest.approx(rule_weights([r]))


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("kind", ["normal", "wild", "exact at first"])
def test_the_rule_is_in_units_of_ordinary_errors(squared, kind):
    """The unit is the mixture's mean |error| so far; while it is 0 the regrets stay as they are."""
    rng = np.random.default_rng(1)
    state, record, rule = fresh(4), np.zeros(2), Rule(4, squared)
    for n in range(150):
        p, t = rng.normal(size=4), rng.normal()
        if kind == "wild":
            t = rng.standard_t(1.1) ** 3
        if kind == "exact at first" and n < 3:
            p[:] = t = 0.0
        mixture = mixed(state, p)
        assert mixture == pytest.approx(rule.weights @ p, abs=1e-9)
        update_rule(state, record, p, mixture, t, 1.0, squared, DISCOUNT)
        rule.update(p, mixture, t)
        assert state[WEIGHT] == pytest.approx(rule.weights, abs=1e-9)
    assert record[EVENTS] == 150
    assert record[ORDINARY_ERROR] == pytest.approx(np.mean(rule.errors))


def test_outlives_its_discount():
    """After 60 / (1 - DISCOUNT) events the state is the faded sums over all, to 1e-9.

    And the ordinary error is about that of the last thousand.
    """
    rng = np.random.default_rng(2)
    K = 3
    state, record = fresh(K), np.zeros(2)
    p, mixtures, ts = rng.normal(size=(LIFETIME, K)), *rng.normal(size=(2, LIFETIME))
    ts *= 1.0 + np.arange(LIFETIME) / 10_000
    for n in range(LIFETIME):
        update_rule(state, record, p[n], mixtures[n], ts[n], 1.0, True, DISCOUNT)
    errors = mixtures - ts
    sizes = np.abs(errors)
    unit, units = 0.0, np.empty(LIFETIME)
    for n, size in enumerate(sizes.tolist(), 1):
        units[n - 1] = unit = unit + (size - unit) / min(n, 1000)
    assert record[ORDINARY_ERROR] == pytest.approx(unit)
    r = np.clip((errors / units)[:, None] * (mixtures[:, None] - p) / units[:, None], -2.0, 2.0)
    assert state[REGRET] == pytest.approx(faded(r, DISCOUNT).sum(axis=0), rel=1e-9)
    assert state[VARIATION] == pytest.approx(faded(r**2, DISCOUNT).sum(axis=0), rel=1e-9)
    assert state[GREATEST] == pytest.approx(faded(r**2, DISCOUNT).max(axis=0), rel=1e-9)
    assert state[WEIGHT] == pytest.approx(rule_weights(r), rel=1e-9)


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
