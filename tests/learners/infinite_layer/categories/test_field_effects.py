import numpy as np
import pytest

from iln_stream.learners.infinite_layer.category_effects import ESTIMATES, FieldEffects


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
    return field, np.array([field.effect(cell) for cell in cells]), truth


@pytest.mark.parametrize("sd", [0.3, 1.0, 3.0])
def test_effects_are_shrunk_as_their_variance_demands(sd):
    """The error is within a tenth of that of the best linear prediction, which knows variances."""
    _, found, truth = taught(sd)
    best = np.sqrt(1.0 / (1.0 / sd**2 + 10.0))  # of ten residuals of unit variance each
    assert np.sqrt(np.mean((found - truth) ** 2)) < 1.15 * best


def test_noise_has_next_to_no_effect():
    """Without effects in truth, those found are far smaller than means of ten residuals."""
    _, found, _ = taught(0.0)
    assert np.sqrt(np.mean(found**2)) < 0.1


def test_a_change_is_followed():
    """After all effects changed, means that forget take over."""
    _, found, truth = taught(3.0, n=12_000, change_at=8_000)
    assert np.sqrt(np.mean((found - truth) ** 2)) < 1.0


def test_a_cell_without_residuals_has_no_effect():
    """A new category changes nothing."""
    field, _, _ = taught(1.0)
    assert field.effect([0.0] * (1 + ESTIMATES)) == 0.0


def test_sums_are_restored():
    """Effects from a table go on bit for bit."""
    field, _, _ = taught(1.0)
    twin = FieldEffects.of(np.array(field.table()))
    cell = [3.0, 1.0, 0.9, 0.8]
    assert twin.effect(cell) == field.effect(cell)
    assert twin.learn(cell, 2.0) == field.learn(cell, 2.0)
    assert twin.effect(cell) == field.effect(cell)


@pytest.mark.parametrize("n", [0, 1, 7])
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
