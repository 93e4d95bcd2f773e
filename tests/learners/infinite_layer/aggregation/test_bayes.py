import numpy as np
import pytest

from iln_stream.learners.infinite_layer.mixing import BayesMixture


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


@pytest.mark.parametrize("kind", ["stationary", "still", "bursting", "drifting"])
def test_outlives_its_discount(kind):
    """After 60 / (1 - discount) events weights are those of all log-losses, each discounted."""
    n, rng = 30_000, np.random.default_rng(0)
    probabilities = rng.uniform(1e-4, 1.0, size=(n, 3))
    if kind == "still":
        probabilities[:] = [0.2, 0.1999, 1e-4]
    elif kind == "bursting":
        probabilities[:, 1] = np.where(np.arange(n) % 1_000 < 20, 1e-300, probabilities[:, 0])
    elif kind == "drifting":
        probabilities[:, 2] *= np.linspace(1e-3, 1.0, n)
    mixture = BayesMixture(3)
    for row in probabilities:
        mixture.learn(row)
    expected = mixture.discount ** np.arange(n)[::-1] @ np.log(probabilities)
    assert mixture.log_weights == pytest.approx(expected, rel=1e-9)
    assert mixture.weights.sum() == pytest.approx(1.0)
