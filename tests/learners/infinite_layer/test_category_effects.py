"""Effects of hashed categories on numbers and on the odds of classes."""

import numpy as np
import pytest

from iln_stream.learners.infinite_layer.category_effects import (
    ESTIMATES,
    ClassEffects,
    Effects,
    FieldEffects,
)
from iln_stream.learners.infinite_layer.hashed_categories import hashed


def test_two_fields_explain_their_own_part():
    """Residuals that two fields cause together are divided between them."""
    rng = np.random.default_rng(0)
    users, items = rng.normal(size=50), rng.normal(size=50)
    effects, errors = Effects(), []
    for _ in range(4_000):
        i, j = rng.integers(50, size=2).tolist()
        names = [hashed(f"item={j}", "item"), hashed(f"user={i}", "user")]
        found = effects.of(names)
        errors.append(abs(items[j] + users[i] - sum(found)))
        effects.learn(names, found, 2.0, float(2.0 + items[j] + users[i]))
    assert np.mean(errors[3_000:]) < 0.15
    assert sum(effects.shares().values()) == pytest.approx(1.0, abs=0.1)  # constant predictions


def test_names_of_opposite_signs_share_a_cell():
    """The effect that one leaves to the other is its negative: on average they cancel."""
    one = hashed("id=1", "id")
    two = one._replace(sign=-one.sign)
    effects = Effects()
    for _ in range(30):
        effects.learn([one], effects.of([one]), 0.0, 1.0)
    (a,), (b,) = effects.of([one]), effects.of([two])
    assert a == -b > 0.5


def test_an_outlier_moves_an_effect_by_a_bounded_amount():
    """One residual of a million counts as one of six mean absolute errors."""
    rng = np.random.default_rng(0)
    effects = Effects()
    names = [[hashed(f"id={k}", "id")] for k in range(20)]
    for k in rng.integers(20, size=400).tolist():
        effects.learn(names[k], effects.of(names[k]), 0.0, float(k + rng.normal()))
    (before,) = effects.of(names[3])
    effects.learn(names[3], [before], 0.0, 1e6)
    assert abs(effects.of(names[3])[0] - before) < 6.0


def taught(sd, n=4_000, n_cells=400, change_at=None):
    """Effects of cells, after unit noise on them was learned, and the true ones."""
    rng = np.random.default_rng(0)
    truth = sd * rng.normal(size=n_cells)
    cells = [[0.0] * (1 + ESTIMATES) for _ in range(n_cells)]
    field = FieldEffects()
    for t, i in enumerate(rng.integers(n_cells, size=n).tolist()):
        if t == change_at:
            truth = sd * rng.normal(size=n_cells)
        cells[i] = field.learn(cells[i], float(truth[i] + rng.normal()))
    return np.array([field.effect(cell) for cell in cells]), truth


@pytest.mark.parametrize("sd", [0.3, 3.0])
def test_effects_are_shrunk_as_their_variance_demands(sd):
    """The error is within a tenth of that of the best linear prediction, which knows variances."""
    found, truth = taught(sd)
    best = np.sqrt(1.0 / (1.0 / sd**2 + 10.0))  # of ten residuals of unit variance each
    assert np.sqrt(np.mean((found - truth) ** 2)) < 1.15 * best


def test_noise_has_next_to_no_effect():
    """Without effects in truth, those found are far smaller than means of ten residuals."""
    found, _ = taught(0.0)
    assert np.sqrt(np.mean(found**2)) < 0.1


def test_a_change_is_followed():
    """After all effects changed, means that forget take over."""
    found, truth = taught(3.0, n=12_000, change_at=8_000)
    assert np.sqrt(np.mean((found - truth) ** 2)) < 1.0


@pytest.mark.parametrize("n", [0, 7])
def test_a_weight_is_a_number_of_residuals(n):
    """A cell is then as after so many equal ones; a weight of 0 changes neither cell nor field."""
    field, cell = FieldEffects(), [0.0] * (1 + ESTIMATES)
    for r in range(n):
        cell = field.learn(cell, float(r))
    before = field.table()
    assert field.learn(list(cell), 5.0, 0.0) == cell
    assert field.table() == before
    thrice = cell
    for _ in range(3):
        thrice = FieldEffects().learn(thrice, 5.0)
    assert FieldEffects().learn(cell, 5.0, 3.0) == pytest.approx(thrice, rel=1e-12)
    half = FieldEffects().learn(FieldEffects().learn(cell, 5.0, 0.5), 5.0, 0.5)
    assert half == pytest.approx(FieldEffects().learn(cell, 5.0), rel=1e-12)


def class_losses(truth, prior, n):
    """Effects and the log loss of the last half, relative to that of the engine's prior."""
    rng = np.random.default_rng(0)
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
    _, ratio = class_losses(truth, [1.0 / C] * C, 6_000)
    assert ratio < 0.62


def test_ids_without_effect_cost_nothing():
    """Where the engine's probabilities are right, the correction keeps its hands off them."""
    effects, ratio = class_losses(np.tile([0.3, 0.7], (500, 1)), [0.3, 0.7], 4_000)
    assert ratio < 1.003
    assert effects.shares()["id"] < 0.1


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
