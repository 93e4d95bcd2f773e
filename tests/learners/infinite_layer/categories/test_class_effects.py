import numpy as np
import pytest

from iln_stream.learners.infinite_layer.category_effects import ClassEffects
from iln_stream.learners.infinite_layer.hashed_categories import hashed


def taught(truth, prior, n, seed=0):
    """Effects and the log loss of the last half, relative to that of the engine's prior."""
    rng = np.random.default_rng(seed)
    effects, losses, of_prior = ClassEffects(), [], []
    prior = np.array(prior)
    for i in rng.integers(len(truth), size=n).tolist():
        names = [hashed(f"id={i}", "id")]
        look = effects.look(names, prior)
        label = int(rng.choice(len(prior), p=truth[i]))
        losses.append(-np.log(effects.mixed(look)[label]))
        of_prior.append(-np.log(prior[label]))
        effects.learn(names, look, label)
    return effects, np.mean(losses[n // 2 :]) / np.mean(of_prior[n // 2 :])


@pytest.mark.parametrize("C", [2, 4])
def test_odds_are_corrected(C):
    """Categories of which each has nearly always the same class are learned."""
    truth = np.full((100, C), 0.1 / (C - 1))
    truth[np.arange(100), np.arange(100) % C] = 0.9
    _, ratio = taught(truth, [1.0 / C] * C, 6_000)
    assert ratio < 0.62


def test_ids_without_effect_cost_nothing():
    """Where the engine's probabilities are right, the correction keeps its hands off them."""
    truth = np.tile([0.3, 0.7], (500, 1))
    effects, ratio = taught(truth, [0.3, 0.7], 4_000)
    assert ratio < 1.003
    assert effects.shares()["id"] < 0.1


def test_a_new_name_leaves_probabilities_as_they_are():
    """Cells that never learned correct nothing."""
    effects, _ = taught(np.tile([0.1, 0.9], (5, 1)), [0.5, 0.5], 100)
    p = np.array([0.2, 0.8])
    assert effects.mixed(effects.look([hashed("id=new", "id")], p)) == pytest.approx(p)


def test_probabilities_of_zero_stay_finite():
    """An engine that is certain, and wrong, breaks nothing."""
    effects = ClassEffects()
    names = [hashed("id=1", "id")]
    for _ in range(50):
        look = effects.look(names, np.array([1.0, 0.0]))
        effects.learn(names, look, 1)
    p = effects.mixed(effects.look(names, np.array([1.0, 0.0])))
    assert np.isfinite(p).all()
    assert p.sum() == pytest.approx(1.0)
