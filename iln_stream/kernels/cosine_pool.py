"""f_t over a pool of cosines: evaluate all units at x, and add to their weights."""

import numpy as np

from iln_stream.kernels.activations import cos_turns
from iln_stream.kernels.compiled import compiled


@compiled
def cosines(omega, b, x, psi):  # type: ignore[no-untyped-def]
    """psi_r = cos(2 pi (sum_j omega[j, r] x_j + b_r)); omega (d, R) and b (R,) in turns."""
    d, R = omega.shape
    for r in range(R):
        psi[r] = b[r]
    for j in range(d):
        x_j = np.float32(x[j])
        row = omega[j]
        for r in range(R):
            psi[r] += row[r] * x_j
    for r in range(R):
        psi[r] = cos_turns(psi[r])


@compiled
def mean_and_square(theta, psi):  # type: ignore[no-untyped-def]
    """Means of theta_r psi_r and of its square."""
    total = 0.0
    squares = 0.0
    for r in range(theta.shape[0]):
        term = theta[r] * psi[r]
        total += term
        squares += term * term
    return total / theta.shape[0], squares / theta.shape[0]


@compiled
def add(theta, psi, alpha):  # type: ignore[no-untyped-def]
    """theta_r += alpha psi_r."""
    for r in range(theta.shape[0]):
        theta[r] += alpha * psi[r]
