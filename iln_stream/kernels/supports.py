"""f_t of Algorithm 1 over a pool of units or a support: sums, draws and thinning.

(H.-C. Chen, Y. Asau. On Generating Random Variates from an Empirical Distribution. AIIE
Transactions 6, 1974.) The sums of |alpha| are cut into buckets of equal width, and the table
gives the start of the search in each. The last bucket is unbounded: sums may outgrow the table,
and draws are still correct, in logarithmic time.

omega and b are stored in single precision and are exactly these numbers. Phases are summed in
double: frequencies may have heavy tails, and errors in psi would accumulate in theta.
"""

import numpy as np
from numba import int64, njit, uint64

from iln_stream.kernels.activations import activate
from iln_stream.kernels.jit import FAST, compiled
from iln_stream.kernels.vectors import widest_vectors


@compiled
def add_points(theta, z, b, alpha, activation):  # type: ignore[no-untyped-def]
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


_ONE = np.uint64(1)


@njit(inline="always")
def _bucket(v, origin, per_unit, table):  # type: ignore[no-untyped-def]
    """The bucket of a sum; the table has one more entry, which is never looked up."""
    return int64(min((v - origin) * per_unit, len(table) - 2.0))


@compiled
def extend(prefix, first, last, table, filled, origin, per_unit):  # type: ignore[no-untyped-def]
    """Add positions first <= p < last to the table; return the number of filled buckets.

    table[b] is the first p whose end, prefix[p + 1], lies in bucket b or beyond. Ends and draws
    find their bucket by the same monotone function, so no draw starts past its position.
    """
    end = _bucket(prefix[last], origin, per_unit, table) + 1
    for b in range(filled, end):
        table[b] = 0
    for p in range(first, last):  # a p that ends in bucket b is ruled out from b + 1 on
        table[_bucket(prefix[p + 1], origin, per_unit, table) + 1] = p + 1
    p = first
    for b in range(filled, end):
        p = max(p, int64(table[b]))
        table[b] = p
    return max(filled, end)


@compiled
def positions(r, n, prefix, first, last, table, origin, per_unit, p):  # type: ignore[no-untyped-def]
    """p[k] <- the p with prefix[p] <= u < prefix[p + 1], u being the share r[k] of the sums."""
    widest_vectors()
    below = prefix[first]
    share = prefix[last] - below
    highest = np.nextafter(prefix[last], 0.0)  # rounding may push u onto the total
    for k in range(n):
        u = min(below + r[k] * share, highest)
        r[k] = u
        p[k] = _bucket(u, origin, per_unit, table)
    # Without branches: their outcome would be random, and they would wait for memory.
    for k in range(n):
        u = r[k]
        i = uint64(table[uint64(p[k])])
        i += uint64(prefix[i + _ONE] <= u)
        i += uint64(prefix[i + _ONE] <= u)
        p[k] = i
    for k in range(n):
        u, i = r[k], p[k]
        if prefix[uint64(i + 1)] <= u:  # terminates, as prefix[last] > u
            low, high = i + 1, last - 1
            step = 1
            while low + step < high and prefix[low + step] <= u:
                step += step
            high = min(high, low + step)
            while low < high:
                middle = (low + high) >> 1
                if prefix[middle + 1] <= u:
                    low = middle + 1
                else:
                    high = middle
            p[k] = low


@compiled
def threshold(raw, target):  # type: ignore[no-untyped-def]
    """Return tau with sum_i min(1, |raw_i| / tau) = target, the expected number of survivors.

    Points above the last tau survive with certainty; the others share the rest of the target by
    size. Each pass lowers tau; the first pass that changes nothing has found it. More than
    `target` entries must be nonzero.
    """
    tau = np.inf
    above = -1
    while True:
        n = 0
        rest = 0.0
        for i in range(len(raw)):
            size = abs(raw[i])
            n += size >= tau
            rest += size if size < tau else 0.0
        if n == above or n >= target:
            return tau
        above = n
        tau = rest / (target - n)


@compiled
def systematic(raw, tau, start, stay):  # type: ignore[no-untyped-def]
    """Choose survivors, each with probability min(1, |raw_i| / tau), and raise them to >= tau.

    The probabilities of points below tau are laid end to end; a point that covers one of start,
    start + 1, .. survives. The number of survivors is thus its expectation up to rounding.
    """
    ahead = start  # the next such number, minus the probabilities so far
    for i in range(len(raw)):
        size = abs(raw[i])
        large = size >= tau
        ahead -= 0.0 if large else size / tau
        met = ahead < 0.0
        ahead += 1.0 if met else 0.0
        stay[i] = large | met
        raw[i] = raw[i] if large else np.copysign(tau, raw[i])


@compiled
def close_gaps(stay, first, entry, raw, free, n_free):  # type: ignore[no-untyped-def]
    """Move survivors to the front, in order, and other slots to `free`; return how many survive."""
    n = 0
    for i in range(len(stay)):
        e = entry[first + i]
        entry[n] = e
        raw[n] = raw[first + i]
        n += int64(stay[i])
        free[n_free] = ~e if e < 0 else e
        n_free += int64(not stay[i])
    return n


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
def add_unit_weights(theta, psi, alpha):  # type: ignore[no-untyped-def]
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
