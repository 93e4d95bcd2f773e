import numpy as np
import pytest

from iln_stream.kernels.mixing import DISCOUNT, GREATEST, REGRET, VARIATION, WEIGHT, mix, score


def equal_table(K):
    table = np.zeros((4, K))
    table[WEIGHT] = 1.0 / K
    return table


def test_mixture_and_weights_by_hand():
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
