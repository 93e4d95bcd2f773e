"""The limit's loops do the work that they are timed for."""

import numpy as np
import pytest
from speed import loops

N = 1 << 16
SEED = np.uint64(7)


def written_in_one_pass():
    out = np.zeros((2, N // 2), np.float32)
    loops.normals_in_one_pass(SEED, N, out)
    return out.astype(float)


def test_normals_are_standard_normal():
    """Mean, variance, fourth moment and the pairs' independence, within 5 standard errors."""
    first, second = written_in_one_pass()
    for z in (first, second):
        sd = np.sqrt(len(z))
        assert abs(z.mean()) < 5 / sd
        assert abs((z**2).mean() - 1) < 5 * np.sqrt(2) / sd
        assert abs((z**4).mean() - 3) < 5 * np.sqrt(96) / sd
    for a, b in ((first, second), (first**2, second**2), (first, second**2)):
        assert abs(np.corrcoef(a, b)[0, 1]) < 5 / np.sqrt(len(a))
    assert abs(np.corrcoef(first[1:], first[:-1])[0, 1]) < 5 / np.sqrt(len(first))


def test_loops_of_normals_make_the_same_numbers():
    """Whichever loop is fastest, it makes what the others make: none skips its work."""
    first, second = written_in_one_pass()
    bits, out = np.zeros(N // 2, np.uint64), np.zeros((2, N // 2), np.float32)
    loops.normals_in_two_passes(SEED, N, bits, out)
    np.testing.assert_allclose(out, [first, second], atol=1e-5)
    expected = (first**2).sum() + (second**3).sum()
    assert loops.normals_summed(SEED, N) == pytest.approx(expected, rel=1e-3)


def test_cosines_are_cosines():
    """Both loops add or write cos(2 pi u)."""
    u = np.random.default_rng(1).uniform(-3, 3, 1024).astype(np.float32)
    out = np.zeros_like(u)
    loops.cosines_written(u, out, 1)
    np.testing.assert_allclose(out, np.cos(2 * np.pi * u.astype(float)), atol=2e-6)
    assert loops.cosines_summed(u, 3) == pytest.approx(3 * out.astype(float).sum(), abs=0.01)


@pytest.fixture(scope="module")
def p():
    """Probabilities of 50 points, up to their sum."""
    return np.random.default_rng(2).exponential(size=50)


def drawn(how, p):
    """Indices made by one of the loops."""
    out, prefix = np.zeros(N, np.uint32), np.cumsum(p)
    match how:
        case "alias":
            loops.indices_by_alias(SEED, loops.alias_table(p), out)
        case "guide":
            loops.indices_by_guide(SEED, prefix, loops.guide_table(prefix), out)
        case "bisection":
            loops.indices_by_bisection(SEED, prefix, out)
    return out


@pytest.mark.parametrize("how", ["alias", "guide", "bisection"])
def test_indices_follow_their_probabilities(how, p):
    """Chi-square over the points, within 5 standard deviations of its mean."""
    expected = N * p / p.sum()
    counts = np.bincount(drawn(how, p), minlength=len(p))
    degrees = len(p) - 1
    chi_square = ((counts - expected) ** 2 / expected).sum()
    assert abs(chi_square - degrees) < 5 * np.sqrt(2 * degrees)


def test_guide_finds_what_bisection_finds(p):
    """A guide table only shortens the search."""
    np.testing.assert_array_equal(drawn("guide", p), drawn("bisection", p))


def test_alias_loops_draw_the_same(p):
    """The sum is of the indices that are written."""
    total = loops.indices_by_alias_summed(SEED, loops.alias_table(p), N)
    assert total == drawn("alias", p).sum(dtype=np.uint64)


@pytest.mark.parametrize("d", [5, 20])
def test_rows_are_gathered_and_multiplied(d):
    """All loops over rows add the squares of the same products."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((30, d)).astype(np.float32)
    w, i = rng.standard_normal(d).astype(np.float32), rng.integers(30, size=500).astype(np.uint32)
    expected = ((X[i].astype(float) @ w) ** 2).sum()
    for rows in (loops.rows_any_width, loops.rows_of_width(d, False), loops.rows_of_width(d, True)):
        assert rows(i, X, w) == pytest.approx(expected, rel=1e-4)
