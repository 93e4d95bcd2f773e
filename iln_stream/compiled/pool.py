"""f_t over a pool of ridge units: evaluate it, add to its weights, find weights of new units.

omega and b are stored in single precision and are exactly these numbers. Phases are summed in
double: frequencies may have heavy tails, and errors in psi would accumulate in theta.
"""

import numpy as np
from numba import njit

from iln_stream.compiled.activations import activate
from iln_stream.compiled.jit import FAST, compiled

_BLOCK = 256
"""Number of support points evaluated at once: their phases stay in the innermost cache."""


@njit(fastmath=FAST, forceinline=True)
def _add_products(omega, x, z):  # type: ignore[no-untyped-def]
    """z_r += sum_j omega[j, r] x_j, four j at a time: z is read and written less often."""
    R = z.shape[0]
    d = x.shape[0]
    for j in range(0, d - 3, 4):
        x_0, x_1, x_2, x_3 = x[j], x[j + 1], x[j + 2], x[j + 3]
        row_0, row_1, row_2, row_3 = omega[j], omega[j + 1], omega[j + 2], omega[j + 3]
        for r in range(R):
            z[r] += row_0[r] * x_0 + row_1[r] * x_1 + row_2[r] * x_2 + row_3[r] * x_3
    for j in range(d - d % 4, d):
        x_j = x[j]
        row = omega[j]
        for r in range(R):
            z[r] += row[r] * x_j


@compiled
def mean_and_square(code, omega, b, x, theta, share, z, psi):  # type: ignore[no-untyped-def]
    """Set psi to the R = len(psi) units at x; return the means of their terms and of the squares.

    The r-th term is theta_r share_r psi_r, and psi_r = sigma(sum_j omega[j, r] x_j + b_r). omega
    (d, R) and b (R,) may be larger than x and psi require. z is scratch for R doubles.
    """
    R = psi.shape[0]
    for r in range(R):
        z[r] = b[r]
    _add_products(omega, x, z)
    activate(code, z, psi)
    total = 0.0
    squares = 0.0
    for r in range(R):
        term = theta[r] * share[r] * psi[r]
        total += term
        squares += term * term
    return total / R, squares / R


@compiled
def add(theta, psi, alpha):  # type: ignore[no-untyped-def]
    """theta_r += alpha psi_r."""
    for r in range(psi.shape[0]):
        theta[r] += alpha * psi[r]


@compiled
def expansion(code, omega, b, X, alpha, theta):  # type: ignore[no-untyped-def]
    """theta_u = sum_i alpha_i sigma(omega_u.X_i + b_u); omega (k, d), b (k,), X (n, d)."""
    k, d = omega.shape
    columns = np.empty((d, _BLOCK))
    z = np.empty(_BLOCK)
    psi = np.empty(_BLOCK, np.float32)
    theta[:] = 0.0
    for start in range(0, X.shape[0], _BLOCK):
        n = min(_BLOCK, X.shape[0] - start)
        for i in range(n):
            for j in range(d):
                columns[j, i] = X[start + i, j]
        for u in range(k):
            z[:] = b[u]
            _add_products(columns, omega[u], z[:n])
            activate(code, z[:n], psi[:n])
            total = 0.0
            for i in range(n):
                total += alpha[start + i] * psi[i]
            theta[u] += total
