import numpy as np

from iln_stream.kernels.activations import activate_layer


def test_values_and_derivatives():
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
