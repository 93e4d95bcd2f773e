"""Recursive least squares, against normal equations that have no factor above 1."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.plain import Huber, Normal

from iln_stream.kernels.ridges import (
    BLOCK,
    FACTORS,
    MEAN_ERROR,
    N_WAITING,
    SCALE,
    STEPS,
    WAITING,
    column,
    dot,
    gain,
    huber_weight,
    learn,
    product,
    renew_penalty,
    row_start,
    subtract,
)
from iln_stream.learners.infinite_layer.experts.rls_bank import initial_covariance, untrained_record

RIDGE, NEVER = 0.1, 1e9
"""The penalty, and a Huber bound that no error reaches."""


def laid_out(C):
    """A symmetric matrix, stored row by row, each to the end of its diagonal block."""
    return np.concatenate([row[: i // BLOCK * BLOCK + BLOCK] for i, row in enumerate(C)])


def symmetric(D, seed=0):
    root = np.random.default_rng(seed).normal(size=(D, D))
    return root @ root.T / D + np.eye(D)


def whole(P, pending, record):
    """The covariance, (D, D)."""
    D = pending.shape[1]
    C = np.empty((D, D))
    for i in range(D):
        column(P, pending, record, i, C[i])
    return C


@pytest.mark.parametrize("D", [16, 32, 80])
def test_product_with_what_is_laid_out(D):
    """Each row begins where the one before ends, and the product is that of the full matrix."""
    C, phi, k = symmetric(D), np.random.default_rng(1).normal(size=D), np.full(D, np.nan)
    P = laid_out(C)
    assert [row_start(i) for i in (0, 1, D)] == [0, BLOCK, len(P)]
    product(P, phi, k)
    assert k == pytest.approx(C @ phi)
    assert dot(C[0], phi) == pytest.approx(k[0])
    assert dot(np.empty(0), np.empty(0)) == 0.0


@pytest.mark.parametrize("n", [0, 1, 7, 8, 19])
@pytest.mark.parametrize("forgetting", [1.0, 0.5])
def test_updates_that_wait_are_not_overlooked(n, forgetting):
    """A covariance with pending updates equals the one with all updates made at once."""
    D = 32
    C, P = symmetric(D), laid_out(symmetric(D))
    pending, record, rng = np.zeros((WAITING, D)), untrained_record(), np.random.default_rng(2)
    for _ in range(n):
        phi, k = rng.normal(size=D), np.empty(D)
        gain(P, pending, record, phi, k)
        assert k == pytest.approx(C @ phi)
        denominator = forgetting + phi @ k
        subtract(P, pending, record, k, denominator, forgetting)
        C = (C - np.outer(k, k) / denominator) / forgetting
    assert record[N_WAITING] == n % WAITING
    assert whole(P, pending, record) == pytest.approx(C, rel=1e-9, abs=1e-9 * np.abs(C).max())


def test_settling_leaves_the_scale_at_one():
    """The common factor can't overflow: it returns to 1 when pending updates are made."""
    D = 16
    P, pending, record = initial_covariance(D), np.zeros((WAITING, D)), untrained_record()
    for n in range(1, 2 * WAITING + 1):
        subtract(P, pending, record, np.zeros(D), 1.0, 0.9)
        assert record[SCALE] == pytest.approx(0.9 ** -(n % WAITING))
    assert P[0] == pytest.approx(0.9 ** (-2 * WAITING) / RIDGE)


@settings(deadline=None, max_examples=50)  # the first call compiles
@given(
    st.lists(st.floats(-5.0, 5.0) | st.sampled_from([0.0, 1e100, -1e6]), max_size=50),
    st.sampled_from([0.5, 2.0, NEVER]),
)
def test_huber_weights(errors, huber):
    """Large errors are down-weighted; in the mean they count as three times it at most."""
    record, reference = untrained_record(), Huber(huber)
    for error in errors:
        assert huber_weight(record, error, huber) == pytest.approx(reference.weight(error))
        assert record[MEAN_ERROR] == pytest.approx(reference.mean)
    assert record[STEPS] == len(errors)


@pytest.mark.parametrize(("n", "weight"), [(0, 1.0), (19, 1.0), (20, 0.2), (40, 0.2)])
def test_no_error_is_an_outlier_before_there_are_twenty(n, weight):
    """An error ten times the mean error has weight 1 among the first, and later 0.2."""
    record = untrained_record()
    for i in range(n):
        huber_weight(record, 0.5 * (-1.0) ** i, 2.0)
    assert huber_weight(record, -5.0, 2.0) == pytest.approx(weight)


@pytest.mark.parametrize("n", [0, 1, 17])
def test_a_renewed_penalty_is_a_row(n):
    """Renewing the penalty is learning, with the given weight, that the next coefficient is 0."""
    D = 32
    C, theta = symmetric(D), np.random.default_rng(3).normal(size=D)
    P, pending, record = laid_out(C), np.zeros((WAITING, D)), untrained_record()
    record[STEPS] = D + n
    b = np.linalg.solve(C, theta)
    renew_penalty(P, pending, theta, record, np.empty(D), 0.25)
    A = np.linalg.inv(C)
    A[n, n] += 0.25
    assert theta == pytest.approx(np.linalg.solve(A, b))
    assert whole(P, pending, record) == pytest.approx(np.linalg.inv(A))


def rows(kind, n, D, rng):
    """The features of n events."""
    phi = rng.normal(size=(n, D))
    if kind == "still":
        phi[:] = phi[0]
    elif kind == "constant":
        phi[:] = 1.0
    elif kind == "nothing":
        phi[:] = 0.0
    elif kind == "collinear":
        phi[:, 1::2] = phi[:, ::2]
    elif kind == "one-hot":
        phi[:] = np.eye(D)[rng.integers(0, D, n)]
    elif kind == "bursting":
        phi *= np.where(np.arange(n) % 1_000 < 20, 10.0, 1e-3)[:, None]
    elif kind == "drifting":
        phi += np.linspace(-3.0, 3.0, n)[:, None]
    return phi


@pytest.mark.parametrize("forgetting", [0.97, 0.995])
@pytest.mark.parametrize(
    "kind",
    ["stationary", "still", "constant", "nothing", "collinear", "one-hot", "bursting", "drifting"],
)
def test_outlives_its_forgetting(kind, forgetting):
    """After 60 / (1 - forgetting) rows weights and covariance are the normal equations' solution,

    exactly symmetric, and all along a target counts as its weight times its Huber weight.
    """
    D, n = 32, WAITING * int(60 / (1 - forgetting) / WAITING + 1)  # so that no update waits
    rng = np.random.default_rng(4)
    P, pending, record = initial_covariance(D), np.zeros((WAITING, D)), untrained_record()
    theta, k, normal = np.zeros(D), np.empty(D), Normal(D, forgetting, RIDGE, huber=2.0)
    for step, phi in enumerate(rows(kind, n, D, rng)):
        t, p = phi[:5].sum() + rng.normal(), rng.normal()
        t += 100.0 * (step % 50 == 49)
        w = [1.0, 0.0, 20.0, 0.5, 1.0][step % 5]
        learn(P, pending, theta, record, phi, k, t, p, w, forgetting, RIDGE, 2.0)
        normal.learn(phi, t, p, w)
    C = whole(P, pending, record)
    assert (C == C.T).all()
    product_with_inverse = C @ normal.A
    assert product_with_inverse == pytest.approx(np.eye(D), abs=1e-7)
    expected = normal.theta[:, 0]
    assert theta == pytest.approx(expected, abs=1e-7 * (1.0 + np.abs(expected).max()))


def test_nothing_is_renewed_where_nothing_is_forgotten():
    """Without forgetting no penalty is put back: a first row is one update, and exact."""
    D = 16
    P, pending, record = initial_covariance(D), np.zeros((WAITING, D)), untrained_record()
    theta, phi = np.zeros(D), np.arange(16.0)
    learn(P, pending, theta, record, phi, np.empty(D), 3.0, 0.0, 1.0, 1.0, RIDGE, 2.0)
    assert theta == pytest.approx(3.0 * phi / (RIDGE + phi @ phi))
    assert record[[STEPS, MEAN_ERROR, N_WAITING]].tolist() == [1.0, 3.0, 1.0]
    assert record[FACTORS] == pytest.approx(1.0 / (1.0 + phi @ phi / RIDGE))


def test_a_weight_of_two_is_the_row_twice():
    """So are weights and covariance, to rounding; and a weight of 0 leaves both as they are."""
    D, rng = 32, np.random.default_rng(5)
    found = []
    for repeats in (1, 2):
        P, pending, record = initial_covariance(D), np.zeros((WAITING, D)), untrained_record()
        theta, k, rng = np.zeros(D), np.empty(D), np.random.default_rng(5)
        for n in range(100):
            phi, t = rng.normal(size=D), rng.normal()
            w, times = (2.0, repeats) if n % 3 else (0.0, 1)
            for _ in range(times):
                learn(P, pending, theta, record, phi, k, t, t, w / times, 1.0, RIDGE, NEVER)
        found.append((theta, whole(P, pending, record)))
    (theta, once), (expected, covariance) = found
    assert theta == pytest.approx(expected, abs=1e-12)
    assert once == pytest.approx(covariance, abs=1e-12)
    before = theta.copy()
    learn(P, pending, expected, record, rng.normal(size=D), k, 9.0, 0.0, 0.0, 1.0, RIDGE, NEVER)
    assert before == pytest.approx(expected, abs=1e-12)
    assert whole(P, pending, record) == pytest.approx(covariance, abs=1e-15)
