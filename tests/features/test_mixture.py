"""Mixtures: the weights reach the draws, the kernel and q."""

import math

import numpy as np
import pytest

from iln_stream.features import (
    DecisionStumps,
    GaussianFourier,
    Mixture,
    RandomNetwork,
    UniformCoordinates,
)

PARTS = (GaussianFourier(0.3), DecisionStumps(), UniformCoordinates())
X = np.array([[0.0, 0.0], [0.5, -0.3], [1.0, 2.0]])


def test_kernel_is_the_weighted_sum():
    """Weights need not sum to 1, and are equal by default; q is mixed alike."""
    expected = sum(p * part.kernel(X, X[1]) for p, part in zip((0.5, 0.3, 0.2), PARTS, strict=True))
    np.testing.assert_allclose(Mixture(PARTS, (5, 3, 2)).kernel(X, X[1]), expected, rtol=1e-12)
    expected = np.mean([part.kernel(X, X[1]) for part in PARTS], axis=0)
    np.testing.assert_allclose(Mixture(PARTS).kernel(X, X[1]), expected, rtol=1e-12)
    assert math.isclose(Mixture(PARTS, (5, 3, 2)).q, 0.5 * 0.375 + 0.3 + 0.2)


def test_groups_cover_the_draws_in_order():
    """Slices cover all draws: with each component's psi known, psi is laid out by group."""
    family = Mixture(PARTS)
    w = family.draw(30, 2, np.random.default_rng(0))
    rows = np.random.default_rng(1).standard_normal((30, 2))
    psi = family.psi(rows, w)
    assert [group.rows.start for group in w] == [0, *(group.rows.stop for group in w[:-1])]
    assert w[-1].rows.stop == 30
    for group in w:
        np.testing.assert_array_equal(psi[group.rows], group.family.psi(rows[group.rows], group.w))


def test_few_draws_may_miss_a_component():
    """Fewer draws than components work: the missed ones are not asked for 0 draws."""
    family = Mixture.of_bandwidths((0.1, 1.0, 10.0))
    w = family.draw(1, 2, np.random.default_rng(0))
    assert len(w) == 1
    assert family.psi(X[:1], w).shape == (1,)


def test_missing_kernel_names_the_component():
    """Accessing a missing kernel raises an error that names the component without one."""
    with pytest.raises(AttributeError, match=r"RandomNetwork\(.*\) has none"):
        _ = Mixture((GaussianFourier(), RandomNetwork())).kernel


def test_counts_are_multinomial():
    """Each draw picks its component independently: counts have the mean and the spread of
    independent draws, within five standard errors.
    """
    family, n, rounds = Mixture(PARTS, (5.0, 3.0, 2.0)), 50, 2000
    rng, counts = np.random.default_rng(0), np.zeros((2000, 3))
    for i in range(rounds):
        for group in family.draw(n, 2, rng):
            counts[i, PARTS.index(group.family)] = group.rows.stop - group.rows.start
    p = np.array([0.5, 0.3, 0.2])
    variance = n * p * (1 - p)
    assert (np.abs(counts.mean(axis=0) - n * p) < 5 * np.sqrt(variance / rounds)).all()
    assert (np.abs(counts.var(axis=0) / variance - 1) < 5 * math.sqrt(2 / rounds)).all()
