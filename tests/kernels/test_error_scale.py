import numpy as np
import pytest

from iln_stream.kernels.intervals import LEAST_SHARE, LINEAR, NEAREST, expected_errors, learn_error

D, SIZE = 3, 64


class Scale:
    """The arrays of the compiled functions."""

    def __init__(self, d=D):
        n_blocks = -(-(1 + 2 * d) // 16)
        self.absolute, self.record, self.huber = np.zeros(SIZE), np.zeros(2), np.zeros(2)
        self.theta, self.phi, self.k = (np.zeros(16 * n_blocks) for _ in range(3))
        self.theta[0] = 1.0
        self.P = np.tile(np.eye(16) / 10.0, (n_blocks, 1, 1))
        self.sizes, self.n = np.zeros(2), 0

    def expect(self, z, near=()):
        slots = np.array([*near, 0])
        expected_errors(
            z, slots, len(near), self.absolute, self.record, self.theta, self.phi, self.sizes
        )
        return self.sizes.copy()

    def learn(self, error):
        learn_error(
            error, self.n % SIZE, self.absolute, self.record, self.theta, self.P, self.huber,
            self.phi, self.k,
        )  # fmt: skip
        self.n += 1


def test_nothing_is_expected_before_an_error():
    """Sizes are positive from the first event on, also if no prediction errs."""
    scale = Scale()
    assert scale.expect(np.zeros(D)).tolist() == [1.0, 1.0]
    scale.learn(0.0)
    assert scale.expect(np.ones(D), [0]).tolist() == [1.0, 1.0]


def test_nearest_is_the_mean_of_their_errors():
    """At least a tenth of the mean |error|; without near events it is that mean."""
    scale = Scale()
    for error in (1.0, 2.0, 6.0, 0.0):
        scale.expect(np.zeros(D))
        scale.learn(error)
    mean = scale.record[1]
    assert mean == pytest.approx(9.0 / 4.0)
    assert scale.expect(np.zeros(D), [1, 2])[NEAREST] == 4.0
    assert scale.expect(np.zeros(D), [3])[NEAREST] == LEAST_SHARE * mean
    assert scale.expect(np.zeros(D))[NEAREST] == mean


def test_linear_learns_which_inputs_make_noise():
    """|errors| that depend on one |z| and on another z are expected within a tenth on average."""
    rng, scale, missed = np.random.default_rng(0), Scale(), []
    for i, z in enumerate(rng.normal(size=(6_000, D))):
        expected, size = scale.expect(z)[LINEAR], 1.0 + np.abs(z[0]) + 0.25 * np.clip(z[1], -3, 3)
        if i > 3_000:
            missed.append(abs(expected / (size * 0.8) - 1.0))  # E|e| is .8 sd of a normal e
        scale.learn(abs(size * rng.normal()))
    assert np.mean(missed) < 0.1


@pytest.mark.parametrize("kind", ["normal", "constant", "collinear", "indicators"])
def test_outlives_its_forgetting(kind):
    """After 60 / (1 - .999) events the covariance is bounded and symmetric, and theta finite."""
    rng, scale = np.random.default_rng(1), Scale(d=20)
    Z = rng.normal(size=(1_000, 20))
    if kind == "constant":
        Z[:] = 0.0
    elif kind == "collinear":
        Z[:] = Z[:, :1]
    elif kind == "indicators":
        Z = np.where(np.arange(20) == rng.integers(20, size=(1_000, 1)), 4.0, -0.2)
    errors = np.abs(rng.standard_cauchy(size=1_000))
    for i in range(60_000):
        scale.expect(Z[i % 1_000])
        scale.learn(errors[i % 997])
    assert np.abs(scale.P - scale.P.transpose(0, 2, 1)).max() < 1e-9
    assert 0.0 < scale.P.max() < 1.0
    assert np.isfinite(scale.theta).all()
    assert np.isfinite(scale.expect(Z[0])).all()
