"""Recursive least squares that keeps only diagonal blocks of the covariance: O(B) a weight."""

from iln_stream.kernels.compiled import compiled
from iln_stream.kernels.recursive_ridge import (
    STEPS,
    dot,
    gain,
    huber_weight,
    leave_pending,
    renew_penalty,
)


@compiled
def learn_blocks(  # type: ignore[no-untyped-def]
    P, pending, theta, record, phi, k, t, p, forgetting, ridge, huber
):
    """One row as in `recursive_ridge.learn`; P (n, B (B + 1) / 2), pending (n, B + 2).

    phi, theta and k (n B,): zeros fill the last block. theta moves along all blocks' gains at once;
    each block's covariance is updated as if it were alone.
    """
    n, B = P.shape[0], pending.shape[1] - 2
    noise = forgetting / huber_weight(record, t - p, huber)
    total = 0.0
    for u in range(n):
        part = slice(u * B, u * B + B)
        gain(P[u], pending[u], phi[part], k[part])
        inside = dot(k[part], phi[part])
        total += inside
        leave_pending(pending[u], k[part], noise + inside, forgetting)
    step = (t - dot(theta, phi)) / (noise + total)
    for i in range(phi.shape[0]):
        theta[i] += step * k[i]
    if forgetting < 1.0:
        lost = (1.0 - forgetting) * ridge * B
        for u in range(n):
            part = slice(u * B, u * B + B)
            renew_penalty(P[u], pending[u], theta[part], k[part], record[STEPS], lost)
