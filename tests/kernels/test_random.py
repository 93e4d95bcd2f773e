import numpy as np
import pytest
from kernels.reference import Counter, splitmix64
from scipy import stats

from iln_stream.kernels import random as counter_rng


def made_normals(key: int, t: int, pairs: int) -> np.ndarray:
    """The first normals of event t, from blocks of 48 numbers."""
    normals = np.empty(2 * pairs, np.float32)
    bits = np.empty(48, np.uint64)
    counter_rng.fill_normals(np.uint64(key), np.uint64(t << 32), pairs, bits, normals)
    return normals


def test_splitmix64():
    """The reference is splitmix64: the first numbers of its sequence from the seed 1234567."""
    state, golden, mask = 1234567, 0x9E3779B97F4A7C15, 2**64 - 1
    numbers = []
    for _ in range(3):
        state = (state + golden) & mask
        numbers.append(splitmix64(state))
    assert numbers == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@pytest.mark.parametrize(("key", "t"), [(0, 0), (1, 10**6), (2**63, 1), (2**64 - 1, 2**32 - 1)])
def test_equals_the_reference(key, t):
    """Numbers equal those of Python integers: uniforms bit for bit, normals as singles."""
    counter, n = np.uint64(t << 32), 65
    r, phase = np.empty(n), np.empty(n, np.float32)
    counter_rng.fill_uniform_pairs(np.uint64(key), counter, n, r, phase)
    expected = Counter(key, t).uniform_pairs(n)
    assert (r == expected[0]).all()
    assert (phase == expected[1]).all()
    normals = made_normals(key, t, n)
    np.testing.assert_allclose(normals, Counter(key, t).normals(2 * n), rtol=2e-5, atol=2e-6)


def test_normals_are_normal():
    """A million of them: Kolmogorov-Smirnov at 1e-6, kurtosis, independence within a pair."""
    n = 500_000
    z = made_normals(99, 0, n).astype(float)
    assert stats.kstest(z, "norm").pvalue > 1e-6
    assert abs((z**4).mean() - 3) < 5 * np.sqrt(96 / (2 * n))
    for f in (lambda v: v, np.abs, np.square):
        assert abs(np.corrcoef(f(z[:n]), f(z[n:]))[0, 1]) < 5 / np.sqrt(n)
    assert 4.5 < np.abs(z).max() < 6.7
