import numpy as np
import pytest

from iln_stream.compiled.ml_poly import DISCOUNT, judge_next, mixed
from iln_stream.learners.infinite_layer.aggregation.ml_poly import MLPoly


class Judged(MLPoly):
    """A rule that learns events one at a time."""

    def __init__(self, n_experts, squared, discount=DISCOUNT):
        super().__init__(n_experts)
        self.squared, self.discount = squared, discount

    def mix(self, p):
        return mixed(self.table, p)

    def judge(self, p, mixture, t):
        judge_next(self.table, self.record, p, mixture, t, self.squared, self.discount)


@pytest.mark.parametrize("squared", [True, False])
def test_finds_the_best_expert(squared):
    """After 300 events nearly all weight is on the expert that is right."""
    rule = Judged(4, squared)
    rng = np.random.default_rng(0)
    for _ in range(300):
        t = rng.normal()
        p = np.array([t + rng.normal(), t + 0.05 * rng.normal(), 0.0, 3.0])
        rule.judge(p, rule.mix(p), t)
    assert rule.weights[1] > 0.9
    assert rule.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(5))
def test_regret_stays_below_its_bound(seed):
    """Without discount the absolute loss exceeds the best expert's by less than the bound."""
    rng = np.random.default_rng(seed)
    K, T = 5, 2_000
    rule = Judged(K, squared=False, discount=1.0)
    bias = rng.normal(size=K)
    lost, each = 0.0, np.zeros(K)
    variation = np.zeros(K)
    for _ in range(T):
        t = rng.normal()
        p = bias + t + rng.normal(size=K)
        mixture = rule.mix(p)
        lost += abs(mixture - t)
        each += np.abs(p - t)
        variation += (mixture - p) ** 2
        rule.judge(p, mixture, t)
    best = each.argmin()
    assert lost - each[best] < np.sqrt(K * variation[best] * np.log(T)) + K * np.log(T)


def test_goes_for_the_median_or_the_mean():
    """For a skewed target one rule settles on the mean's expert, the other on the median's."""
    rng = np.random.default_rng(1)
    p = np.array([1.0, np.log(2.0)])  # of the exponential law
    weights = {}
    for squared in (True, False):
        rule = Judged(2, squared, discount=1.0)
        for t in rng.exponential(size=20_000).tolist():
            rule.judge(p, rule.mix(p), t)
        weights[squared] = rule.weights.copy()
    # The mixture approaches the best point from between, so the better expert has most weight.
    assert weights[True][0] > 0.6
    assert weights[False][1] > 0.6


def test_an_outlier_settles_nothing():
    """One target of 1e9 leaves the weights of a settled rule nearly as they were."""
    rule = Judged(2, squared=True)
    rng = np.random.default_rng(2)
    for _ in range(500):
        t = rng.normal()
        p = np.array([t, t + 1.0])
        rule.judge(p, rule.mix(p), t)
    before = rule.weights.copy()
    rule.judge(np.array([0.0, 1.0]), 0.1, 1e9)
    assert rule.weights == pytest.approx(before, abs=0.1)
