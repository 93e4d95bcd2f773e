import numpy as np
import pytest

from iln_stream.kernels.mixing import update_rule
from iln_stream.learners.infinite_layer.mixing import MLPoly


class Undiscounted(MLPoly):
    """A rule that remembers all events alike, as its regret bound assumes."""

    def learn(self, p, mixture, t, w=1.0):
        update_rule(self.table, self.record, p, mixture, t, w, self.squared, 1.0)


@pytest.mark.parametrize("squared", [True, False])
def test_finds_the_best_expert(squared):
    """After 300 events nearly all weight is on the expert that is right."""
    rule = MLPoly(4, squared=squared)
    rng = np.random.default_rng(0)
    for _ in range(300):
        t = rng.normal()
        p = np.array([t + rng.normal(), t + 0.05 * rng.normal(), 0.0, 3.0])
        rule.learn(p, rule.mixed(p), t)
    assert rule.weights[1] > 0.9
    assert rule.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(5))
def test_regret_stays_below_its_bound(seed):
    """Without discount the absolute loss exceeds the best expert's by less than the bound."""
    rng = np.random.default_rng(seed)
    K, T = 5, 2_000
    rule = Undiscounted(K, squared=False)
    bias = rng.normal(size=K)
    lost, each = 0.0, np.zeros(K)
    variation = np.zeros(K)
    for _ in range(T):
        t = rng.normal()
        p = bias + t + rng.normal(size=K)
        mixture = rule.mixed(p)
        lost += abs(mixture - t)
        each += np.abs(p - t)
        variation += (mixture - p) ** 2
        rule.learn(p, mixture, t)
    best = each.argmin()
    assert lost - each[best] < np.sqrt(K * variation[best] * np.log(T)) + K * np.log(T)


def test_goes_for_the_median_or_the_mean():
    """For a skewed target one rule settles on the mean's expert, the other on the median's."""
    rng = np.random.default_rng(1)
    p = np.array([1.0, np.log(2.0)])  # of the exponential law
    weights = {}
    for squared in (True, False):
        rule = Undiscounted(2, squared=squared)
        for t in rng.exponential(size=20_000).tolist():
            rule.learn(p, rule.mixed(p), t)
        weights[squared] = rule.weights.copy()
    # The mixture approaches the best point from between, so the better expert has most weight.
    assert weights[True][0] > 0.6
    assert weights[False][1] > 0.6


def test_an_outlier_settles_nothing():
    """One target of 1e9 leaves the weights of a settled rule nearly as they were."""
    rule = MLPoly(2, squared=True)
    rng = np.random.default_rng(2)
    for _ in range(500):
        t = rng.normal()
        p = np.array([t, t + 1.0])
        rule.learn(p, rule.mixed(p), t)
    before = rule.weights.copy()
    rule.learn(np.array([0.0, 1.0]), 0.1, 1e9)
    assert rule.weights == pytest.approx(before, abs=0.1)
