"""Sums over points under many ridge units."""

import numpy as np

from iln_stream.compiled.activations import activate
from iln_stream.compiled.jit import compiled


@compiled
def add(theta, z, b, alpha, activation):  # type: ignore[no-untyped-def]
    """theta_r += sum_i alpha_i sigma(z[i, r] + b_r), z (n, R) is overwritten."""
    n, R = z.shape
    psi = np.empty(R, np.float32)
    for i in range(n):
        row = z[i]
        for r in range(R):
            row[r] += b[r]
        activate(activation, row, psi)
        weight = alpha[i]
        for r in range(R):
            theta[r] += weight * psi[r]
