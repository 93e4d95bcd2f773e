import numpy as np

from iln_stream.kernels.mixing import LEAST_PROBABILITY, fill, log_frequencies


def test_experts_probabilities():
    """Softmax of clipped scores at each sharpness, frequencies, and a least share for each class;
    the networks' rows only get the latter.
    """
    scores = np.array([[0.2, 0.9, -3.0], [5.0, 0.1, 0.3]])
    sharpness, counts = np.array([2.0, 7.0]), np.array([3, 5, 0])
    p = np.zeros((6, 3))
    p[5] = [0.5, 0.5, 0.0]
    fill(scores, sharpness, counts, p)
    expected = np.zeros((6, 3))
    for s, beta in enumerate(sharpness):
        raised = np.exp(beta * np.clip(scores, -0.5, 1.5))
        expected[2 * s : 2 * s + 2] = raised / raised.sum(axis=1, keepdims=True)
    expected[4] = np.array([4, 6, 1]) / 11
    expected[5] = [0.5, 0.5, 0.0]
    np.testing.assert_allclose(
        p, (1 - LEAST_PROBABILITY) * expected + LEAST_PROBABILITY / 3, rtol=1e-12
    )


def test_scores_that_are_equal_or_huge():
    """Equal scores are equal probabilities, and no exponential overflows."""
    p = np.zeros((4, 2))
    fill(np.array([[0.3, 0.3], [1e300, -1e300]]), np.array([24.0]), np.array([1, 1]), p)
    np.testing.assert_allclose(p[0], 0.5)
    assert np.isfinite(p).all()
    assert p[1, 0] > 0.999


def test_log_frequencies():
    """Half an event is added to each class."""
    offsets = np.zeros(3)
    log_frequencies(np.array([7, 2, 0]), offsets)
    np.testing.assert_allclose(np.exp(offsets), np.array([7.5, 2.5, 0.5]) / 10.5)
