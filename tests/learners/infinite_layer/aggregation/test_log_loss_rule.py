import numpy as np
import pytest

from iln_stream.learners.infinite_layer.mixing import LogLossRule


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


def test_finds_the_best_expert():
    """After 2,000 events most weight is on the expert that is right, and all sum to one."""
    rule = LogLossRule(3)
    experts, labels = coin(2_000, 0.2, [0.5, 0.2, 0.9])
    played(rule, experts, labels)
    assert rule.weights[1] > 0.9
    assert rule.weights.sum() == pytest.approx(1.0)


def test_mixes_to_what_no_expert_knows():
    """Of experts at .1 and .9 a mixture at .3 costs little more than the truth."""
    experts, labels = coin(4_000, 0.3, [0.1, 0.9])
    given = played(LogLossRule(2), experts, labels)
    entropy = -0.3 * np.log(0.3) - 0.7 * np.log(0.7)
    assert -np.log(given[1_000:]).mean() < 1.03 * entropy


def test_follows_a_change():
    """The distant past is forgotten: 1,500 events after a change the other expert leads."""
    rule = LogLossRule(2)
    before, after = coin(20_000, 0.1, [0.1, 0.9]), coin(1_500, 0.9, [0.1, 0.9])
    played(rule, *before)
    assert rule.weights[0] > 0.9
    played(rule, *after)
    assert rule.weights[1] > 0.9


@pytest.mark.parametrize("kind", ["equal", "certain", "late"])
def test_outlives_its_discount(kind):
    """After 100,000 events, a hundred times its memory, the table is finite, and weights sum to 1:
    of experts that agree, that are surprised, and one that is right after long being wrong.
    """
    rng, rule = np.random.default_rng(1), LogLossRule(3)
    n = 100_000
    if kind == "equal":
        experts, labels = coin(n, 0.5, [0.5, 0.5, 0.5])
    elif kind == "certain":
        experts, labels = coin(n, 0.5, [5e-5, 1 - 5e-5, 0.5])
    else:
        experts, labels = coin(n, 0.5, [0.4, 0.5, 0.6])
        experts[n // 2 :, 0] = np.eye(2)[labels[n // 2 :]] * 0.8 + 0.1
    given = played(rule, experts[rng.permutation(n)] if kind == "equal" else experts, labels)
    assert np.isfinite(rule.table).all()
    assert np.abs(rule.table).max() <= 25_000.0 + 1e-6
    assert rule.weights.sum() == pytest.approx(1.0)
    assert given.min() > 0.0
