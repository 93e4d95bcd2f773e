import numpy as np
import pytest

from iln_stream.learners.infinite_layer.aggregation.bayes import BayesMixture


def test_weighs_by_the_probability_of_the_observed_class():
    """Of two experts that predicted 1/3 and 2/3 after the same past, one weighs twice the other."""
    mixture = BayesMixture(2)
    assert mixture.weights.tolist() == [0.5, 0.5]
    mixture.learn(np.array([1.0, 2.0]) / 3.0)
    assert mixture.weights == pytest.approx([1 / 3, 2 / 3])


def test_the_distant_past_is_forgotten():
    """An expert that was right 5000 times loses to one that has been right 1000 times since."""
    mixture = BayesMixture(2)
    for _ in range(5_000):
        mixture.learn(np.array([0.9, 0.1]))
    assert mixture.weights[0] > 0.99
    for _ in range(1_000):
        mixture.learn(np.array([0.1, 0.9]))
    assert mixture.weights[1] > 0.99


def test_outlives_its_discount():
    """After 100,000 certain errors a log weight is the discounted sum, and weights are finite."""
    mixture, p = BayesMixture(2), np.array([5e-5, 1.0])
    for _ in range(100_000):
        mixture.learn(p)
    assert mixture.log_weights[0] == pytest.approx(np.log(5e-5) / 0.002, rel=1e-6)
    assert mixture.weights.tolist() == [0.0, 1.0]
    for _ in range(1_000):
        mixture.learn(p[::-1])
    assert mixture.weights.tolist() == [1.0, 0.0]
