import numpy as np
import pytest
from scipy import special

from iln_stream.kernels.activations import CODES, TURNS, activate, activate_layer

SIGMA = {
    "cos": np.cos,
    "erf": special.erf,
    "tanh": np.tanh,
    "sigmoid": special.expit,
    "relu": lambda z: np.maximum(z, 0.0),
}
STATED = {"cos": 2e-7, "erf": 5e-7, "tanh": 5e-7, "sigmoid": 5e-7, "relu": 1e-6}


def activated(name, z):
    """sigma(z) by the compiled code."""
    psi = np.empty(len(z), np.float32)
    activate(CODES[name], z, psi)
    return psi


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", CODES)
def test_errors_are_as_stated(name, dtype):
    """On a fine grid over +-12 all values are within the documented errors of numpy's."""
    z = np.linspace(-12.0, 12.0, 100_001).astype(dtype)
    radians = z.astype(np.float64) / (TURNS if name == "cos" else 1.0)
    assert np.abs(activated(name, z) - SIGMA[name](radians)).max() < STATED[name]


@pytest.mark.parametrize("name", ["cos", "erf", "tanh", "sigmoid"])
def test_values_are_bounded_for_arguments_of_any_size(name):
    """|psi| <= 1 and finite, far out too: the bounds of the theory hold for the computed values."""
    ends = 10.0 ** np.arange(-45, 300)
    psi = activated(name, np.concatenate([-ends, ends, np.linspace(-10, 10, 100_001)]))
    assert np.isfinite(psi).all()
    assert np.abs(psi).max() <= 1.0


def test_whole_turns_are_removed_in_the_arguments_precision():
    """A double phase of a million turns still gives its cosine to single precision."""
    turns = 1e6 + np.linspace(0.0, 1.0, 1001)
    expected = np.cos(2 * np.pi * (turns - 1e6))
    np.testing.assert_allclose(activated("cos", turns), expected, rtol=0, atol=3e-7)


def test_results_may_replace_arguments():
    """psi may be the array z itself (another loop of the compiler's, another last digit)."""
    z = np.linspace(-3.0, 3.0, 77).astype(np.float32)
    expected = activated("tanh", z)
    activate(CODES["tanh"], z, z)
    np.testing.assert_allclose(z, expected, rtol=0, atol=2e-7)


def test_values_and_derivatives_of_a_layer():
    """tanh and SiLU to 1e-6 of their size, also far out; derivatives are those of differences."""
    u = np.concatenate([np.linspace(-12, 12, 60), [-1e2, 1e2, 0.0, -0.0]]).reshape(2, 32)
    u = np.concatenate([u, u[:, ::-1]], axis=1)
    H, D = u.astype(np.float32), np.empty((2, 64), np.float32)
    activate_layer(H, D)
    u = u.astype(np.float32).astype(float)

    def sigma(u):
        silu = u[:, 32:] / (1 + np.exp(-u[:, 32:]))
        return np.concatenate([np.tanh(u[:, :32]), silu], axis=1)

    np.testing.assert_allclose(H, sigma(u), rtol=1e-6, atol=1e-5)
    slope = (sigma(u + 1e-5) - sigma(u - 1e-5)) / 2e-5
    np.testing.assert_allclose(D, slope, atol=1e-5)
