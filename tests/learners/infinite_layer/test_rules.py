"""Rules that weigh predictions: of numbers by their loss, of classes by their probabilities."""

import numpy as np
import pytest

from iln_stream.kernels.mixing import mixed
from iln_stream.learners.infinite_layer.mixing import (
    BayesMixture,
    LogLossRule,
    MLPoly,
    StackedCorrection,
)


@pytest.mark.parametrize("squared", [True, False])
def test_ml_poly_finds_the_best_expert(squared):
    """After 300 events nearly all weight is on the expert that is right."""
    rule = MLPoly(4, squared=squared)
    rng = np.random.default_rng(0)
    for _ in range(300):
        t = rng.normal()
        p = np.array([t + rng.normal(), t + 0.05 * rng.normal(), 0.0, 3.0])
        rule.learn(p, mixed(rule.table, p), t)
    assert rule.weights[1] > 0.9
    assert rule.weights.sum() == pytest.approx(1.0)


def test_an_outlier_settles_nothing():
    """One target of 1e9 leaves the weights of a settled rule nearly as they were."""
    rule = MLPoly(2, squared=True)
    rng = np.random.default_rng(2)
    for _ in range(500):
        t = rng.normal()
        p = np.array([t, t + 1.0])
        rule.learn(p, mixed(rule.table, p), t)
    before = rule.weights.copy()
    rule.learn(np.array([0.0, 1.0]), 0.1, 1e9)
    assert rule.weights == pytest.approx(before, abs=0.1)


def test_bayes_outlives_its_discount():
    """After 60 / (1 - discount) events weights are those of all log-losses, each discounted, even
    if an expert fails in bursts and another one drifts."""
    n, rng = 30_000, np.random.default_rng(0)
    probabilities = rng.uniform(1e-4, 1.0, size=(n, 3))
    probabilities[:, 1] = np.where(np.arange(n) % 1_000 < 20, 1e-300, probabilities[:, 0])
    probabilities[:, 2] *= np.linspace(1e-3, 1.0, n)
    mixture = BayesMixture(3)
    for row in probabilities:
        mixture.learn(row)
    expected = mixture.discount ** np.arange(n)[::-1] @ np.log(probabilities)
    assert mixture.log_weights == pytest.approx(expected, rel=1e-9)
    assert mixture.weights.sum() == pytest.approx(1.0)


def played(rule, experts, labels):
    """The rule's probabilities of the observed classes; experts (T, K, C)."""
    mixture, found = np.zeros(experts.shape[2]), []
    for p, label in zip(experts, labels, strict=True):
        rule.mix(p, len(p), mixture)
        found.append(mixture[label])
        rule.learn(p, mixture, label)
    return np.array(found)


def coin(n, truth, answers, seed=0):
    """Experts that always give class 1 the same probability, and draws of the class."""
    ones = np.tile(np.array(answers)[:, None], (n, 1, 1))
    labels = (np.random.default_rng(seed).random(n) < truth).astype(int)
    return np.concatenate([1 - ones, ones], axis=2), labels


def test_log_loss_mixes_to_what_no_expert_knows():
    """Of experts at .1 and .9 a mixture at .3 costs little more than the truth."""
    experts, labels = coin(4_000, 0.3, [0.1, 0.9])
    given = played(LogLossRule(2), experts, labels)
    entropy = -0.3 * np.log(0.3) - 0.7 * np.log(0.7)
    assert -np.log(given[1_000:]).mean() < 1.03 * entropy


def test_log_loss_follows_a_change():
    """The distant past is forgotten: 1,500 events after a change the other expert leads."""
    rule = LogLossRule(3)
    answers = [0.1, 0.9, 0.5]
    before, after = coin(20_000, 0.1, answers), coin(1_500, 0.9, answers)
    played(rule, *before)
    assert rule.weights[0] > 0.9
    played(rule, *after)
    assert rule.weights[1] > 0.9


@pytest.mark.parametrize("kind", ["certain", "late"])
def test_log_loss_outlives_its_discount(kind):
    """After 30,000 events, thirty times its memory, the table is finite, and weights sum to 1: of
    experts that are surprised, and one that is right after long being wrong."""
    rule, n = LogLossRule(3), 30_000
    if kind == "certain":
        experts, labels = coin(n, 0.5, [5e-5, 1 - 5e-5, 0.5])
    else:
        experts, labels = coin(n, 0.5, [0.4, 0.5, 0.6])
        experts[n // 2 :, 0] = np.eye(2)[labels[n // 2 :]] * 0.8 + 0.1
    given = played(rule, experts, labels)
    assert np.isfinite(rule.table).all()
    assert np.abs(rule.table).max() <= 25_000.0 + 1e-6
    assert rule.weights.sum() == pytest.approx(1.0)
    assert given.min() > 0.0


def answers(n, C, seed=0):
    """Two experts who each see a part of the evidence, and the class that both parts decide."""
    rng = np.random.default_rng(seed)
    parts = rng.normal(size=(n, 2, C))
    truth = np.exp(parts.sum(axis=1))
    truth /= truth.sum(axis=1, keepdims=True)
    labels = np.array([rng.choice(C, p=p) for p in truth])
    raised = np.exp(parts)
    return raised / raised.sum(axis=2, keepdims=True), truth, labels


@pytest.mark.parametrize("C", [2, 4])
def test_a_correction_adds_up_independent_evidence(C):
    """A mean of two experts is less sure than both together may be; the correction's loss is nearer
    to that of the truth by nine tenths. The first class more changes nothing that was learned.
    """
    experts, truth, labels = answers(4_000, C)
    correction, found = StackedCorrection([0, 1]), np.zeros((len(labels), C))
    for p, label, q in zip(experts, labels, found, strict=True):
        correction.correct(p, np.full(C, 1 / C), q)
        correction.learn(q, label)
    mean, late = experts.mean(axis=1), slice(1_000, None)

    def loss(p):
        return -np.log(p[np.arange(len(labels)), labels])[late].mean()

    assert loss(found) < loss(truth) + 0.1 * (loss(mean) - loss(truth))
    before = correction.weights.copy()
    p, q = answers(1, C + 1)[0][0], np.zeros(C + 1)
    correction.correct(p, p.mean(axis=0), q)
    assert q.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(correction.weights, before)


def test_a_correction_starts_as_the_mixture():
    """Before anything is learned the mixture is returned, but for a class's least share."""
    p, q = answers(1, 3)[0][0], np.zeros(3)
    StackedCorrection([0, 1]).correct(p, p.mean(axis=0), q)
    assert q == pytest.approx(p.mean(axis=0), abs=1e-4)
