import numpy as np
import pytest

from iln_stream.features.affine import activate
from iln_stream.kernels.activations import CODES, TURNS
from iln_stream.kernels.supports import add_points


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize(("n", "R"), [(0, 4), (1, 1), (30, 17), (3, 0)])
def test_sums_over_points(name, n, R):
    """theta_r grows by sum_i alpha_i sigma(z[i, r] + b_r), over none, one and many points."""
    rng = np.random.default_rng(n)
    z, b = rng.normal(size=(n, R)).astype(np.float32), rng.normal(size=R).astype(np.float32)
    alpha, theta = rng.normal(size=n), rng.normal(size=R)
    arguments = z.astype(float) + b
    psi = activate(name, arguments.ravel() / (TURNS if name == "cos" else 1.0)).reshape(n, R)
    expected = theta + alpha @ psi
    add_points(theta, z, b, alpha, CODES[name])
    np.testing.assert_allclose(theta, expected, rtol=0, atol=2e-6 * (1 + np.abs(alpha).sum()))
