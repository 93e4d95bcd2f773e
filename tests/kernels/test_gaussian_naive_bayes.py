import numpy as np

from iln_stream.kernels.gaussian_naive_bayes import LEAST_VARIANCE, PRIOR, learn, predict


def test_against_moments():
    """Normal densities with each class's mean and variance; the prior's values count among them."""
    rng = np.random.default_rng(0)
    Z, labels = rng.normal(size=(60, 3)), rng.integers(2, size=60)
    Z[labels == 1] += 0.7
    counts, mean, squares = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3))
    for z, label in zip(Z, labels, strict=True):
        learn(z, counts, mean, squares, label, 1.0)
    offsets, z, p = np.log([0.5, 0.3, 0.2]), np.array([0.1, -0.4, 1.0]), np.zeros(3)
    predict(z, counts, mean, squares, offsets, p)
    densities = []
    for c, share in enumerate([0.5, 0.3, 0.2]):
        own, n = Z[labels == c], (labels == c).sum()
        center = own.sum(axis=0) / (n + PRIOR)
        spread = ((own - own.mean(axis=0)) ** 2).sum(axis=0) if n else 0.0
        variance = (spread + PRIOR) / (n + PRIOR) + LEAST_VARIANCE
        factors = np.exp(-((z - center) ** 2) / (2 * variance)) / np.sqrt(variance)
        densities.append(share * factors.prod())
    np.testing.assert_allclose(p, np.array(densities) / sum(densities), rtol=1e-9)


def test_outlives_many_equal_values():
    """Variances stay at their least, and probabilities are finite, far from all that was seen."""
    counts, mean, squares, p = np.zeros(2), np.zeros((2, 1)), np.zeros((2, 1)), np.zeros(2)
    for t in range(20_000):
        learn(np.array([0.3]), counts, mean, squares, t % 2, 1.0)
    assert 0.0 <= squares.min() <= squares.max() < 1e-6
    predict(np.array([5.0]), counts, mean, squares, np.log([0.5, 0.5]), p)
    np.testing.assert_allclose(p, 0.5)


def test_a_weight_is_a_number_of_events():
    """An event of weight 3 leaves what three equal ones leave; one of weight 0 leaves nothing."""
    rng, found = np.random.default_rng(1), []
    Z, labels = rng.normal(size=(40, 2)), rng.integers(2, size=40)
    for times in (1, 3):
        tables = np.zeros(2), np.zeros((2, 2)), np.zeros((2, 2))
        for z, label in zip(Z, labels, strict=True):
            learn(z + 9.0, *tables, label, 0.0)
            for _ in range(times):
                learn(z, *tables, label, 3.0 / times)
        found.append(np.column_stack(tables))
    np.testing.assert_allclose(*found, rtol=1e-12)
