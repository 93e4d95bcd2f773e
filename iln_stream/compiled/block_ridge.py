"""Recursive least squares that keeps only diagonal blocks of the covariance: O(B) per weight."""

from iln_stream.compiled.jit import compiled
from iln_stream.compiled.recursive_ridge import STEPS, dot, huber_weight


@compiled
def learn_blocks(  # type: ignore[no-untyped-def]
    P, theta, record, phi, k, t, p, w, forgetting, ridge, huber
):
    """Learn one row as `recursive_ridge.learn` does; P (n, B, B), phi, theta and scratch k (n B,).

    theta moves along all blocks' gains at once; each block's covariance is updated as if it were
    alone. Zeros pad the last block of phi.
    """
    n, B = P.shape[0], P.shape[1]
    noise = forgetting / (w * huber_weight(record, t - p, huber))
    total = 0.0
    for u in range(n):
        block = P[u]
        f, g = phi[u * B : u * B + B], k[u * B : u * B + B]
        inside = 0.0
        for i in range(B):
            value = 0.0
            for j in range(B):
                value += block[i, j] * f[j]
            g[i] = value
            inside += value * f[i]
        total += inside
        _subtract(block, g, 1.0 / (noise + inside), 1.0 / forgetting)
    step = (t - dot(theta, phi)) / (noise + total)
    for i in range(phi.shape[0]):
        theta[i] += step * k[i]
    if forgetting < 1.0:
        # As in `renew_penalty`: one weight of one block per row.
        turn = int(record[STEPS])
        u, i = turn % n, (turn // n) % B
        first = u * B
        for j in range(B):
            k[first + j] = P[u, i, j]
        lost = (1.0 - forgetting) * ridge * n * B
        c = 1.0 / (1.0 / lost + P[u, i, i])
        change = c * theta[first + i]
        for j in range(B):
            theta[first + j] -= change * k[first + j]
        _subtract(P[u], k[first : first + B], c, 1.0)
        _mirror(P[u])


@compiled
def _subtract(block, g, c, s):  # type: ignore[no-untyped-def]
    """block <- s (block - c g g')."""
    B = g.shape[0]
    for i in range(B):
        c_i = c * g[i]
        for j in range(B):
            block[i, j] = s * (block[i, j] - c_i * g[j])


@compiled
def _mirror(block):  # type: ignore[no-untyped-def]
    """Make a block exactly symmetric.

    Rounding makes the two triangles differ slightly, and every row multiplies the difference by
    1 / forgetting: .999^-36,000 is 1 / eps. Mirroring once in n rows keeps it from growing.
    """
    for i in range(block.shape[0]):
        for j in range(i):
            block[j, i] = block[i, j]
