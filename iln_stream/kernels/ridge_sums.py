"""Sums over points under many ridge units."""

from iln_stream.kernels.activations import activate
from iln_stream.kernels.compiled import compiled


@compiled
def add(theta, z, b, alpha, activation):  # type: ignore[no-untyped-def]
    """theta_r += sum_i alpha_i sigma(z[i, r] + b_r), with z (n, R) overwritten."""
    n, R = z.shape
    for i in range(n):
        row = z[i]
        for r in range(R):
            row[r] += b[r]
        activate(activation, row, row)
        weight = alpha[i]
        for r in range(R):
            theta[r] += weight * row[r]
