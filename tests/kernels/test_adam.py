import numpy as np
import pytest

from iln_stream.kernels.networks import (
    FLOOR,
    GRADIENT_SQUARES,
    LONG,
    MOMENTS,
    SHORT,
    WEIGHTS,
    average,
    descend,
)


def parameters(n=32):
    p = np.random.default_rng(0).normal(size=(5, n)).astype(np.float32)
    p[GRADIENT_SQUARES] **= 2
    return p


def test_only_the_range_moves():
    """Weights before and after the range keep their bits."""
    p, g = parameters(64), np.ones((1, 64), np.float32)
    before = p.copy()
    descend(p, g, 16, 32, 1.0, 0.1, 0.0)
    assert (p[WEIGHTS, 16:32] != before[WEIGHTS, 16:32]).all()
    np.testing.assert_array_equal(p[:, :16], before[:, :16])
    np.testing.assert_array_equal(p[:, 32:], before[:, 32:])


def test_descends_a_parabola():
    """Steps along the gradient of (w - 1)^2 end near 1, however it is scaled."""
    for scale in (1e-3, 1.0, 1e3):
        p = np.zeros((5, 16), np.float32)
        for step in range(1, 1001):
            descend(p, scale * (p[WEIGHTS : WEIGHTS + 1] - 1), 0, 16, float(step), 0.01, 0.0)
        assert p[WEIGHTS] == pytest.approx(1.0, abs=0.01)


def test_without_gradient():
    """A weight without a gradient stays, and neither its moments nor squares fade into nothing."""
    p = np.full((5, 16), 0.5, np.float32)
    p[[MOMENTS, GRADIENT_SQUARES]] = 0.0
    for step in range(1, 3000):
        descend(p, np.zeros((1, 16), np.float32), 0, 16, float(step), 0.01, 0.0)
    assert p[WEIGHTS] == pytest.approx(0.5, abs=1e-6)
    assert (p[GRADIENT_SQUARES] >= np.float32(FLOOR)).all()
    assert (p[MOMENTS] > np.finfo(np.float32).tiny).all()


def test_decay_is_decoupled():
    """Decay shrinks a weight by rate times decay, whatever the gradient's scale."""
    p = np.zeros((5, 16), np.float32)
    p[WEIGHTS] = 2.0
    descend(p, np.zeros((1, 16), np.float32), 0, 16, 1.0, 0.1, 0.5)
    assert p[WEIGHTS] == pytest.approx(2.0 * (1 - 0.1 * 0.5))


def test_averages_move_towards_the_weights():
    """By their own fractions, and 1 replaces them."""
    p = parameters()
    before = p.astype(float)
    average(p, 0, 16, 1.0, 0.25)
    np.testing.assert_allclose(p[SHORT, :16], before[WEIGHTS, :16], atol=1e-6)
    expected = before[LONG] + 0.25 * (before[WEIGHTS] - before[LONG])
    np.testing.assert_allclose(p[LONG, :16], expected[:16], atol=1e-6)
    np.testing.assert_array_equal(p[:, 16:], before[:, 16:].astype(np.float32))
