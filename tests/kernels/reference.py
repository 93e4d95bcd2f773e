"""The compiled loops reimplemented in numpy and double precision, from the same random bits."""

import math

import numpy as np

GOLDEN = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1


def splitmix64(state: int) -> int:
    """The finaliser of splitmix64, in Python's own integers."""
    z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


class Counter:
    """The numbers of event t, one after the other."""

    def __init__(self, key: int, t: int) -> None:
        self.key, self.c = key, t << 32

    def bits(self, n: int) -> np.ndarray:
        numbers = [splitmix64((self.key + GOLDEN * (self.c + k + 1)) & MASK) for k in range(n)]
        self.c += n
        return np.array(numbers, dtype=np.uint64)

    def uniform_pairs(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        bits = self.bits(n)
        low = (bits & np.uint64(0xFFFFFF)).astype(float)
        return (bits >> np.uint64(24)).astype(float) * 2.0**-40, low * 2.0**-24

    def normals(self, n: int) -> np.ndarray:
        """2 ceil(n / 2) normals by Box-Muller."""
        bits = self.bits((n + 1) // 2)
        high = (bits >> np.uint64(32)).astype(np.int64)
        low = bits.astype(np.uint32).view(np.int32).astype(float)
        radius = np.sqrt(-2.0 * np.log(((high & 0x7FFFFFFF) + 0.5) * 2.0**-31))
        sign = np.where(high >> 31, -1.0, 1.0)
        angle = math.pi * low * 2.0**-32
        return np.concatenate([sign * radius * np.cos(angle), radius * np.sin(angle)])


TILE = 256
"""Draws whose i and phase are made at once."""


def at_once(normals_a_draw: int) -> int:
    """Draws whose normals are made at once."""
    return max(1, 4096 // max(normals_a_draw, 1))


def products(support, x, family, key: int, t: int, m: int, units: str) -> np.ndarray:
    """The m products sgn(alpha_i) psi(x_i; w) psi(x; w) of event t."""
    d = len(x)
    x = x.astype(np.float32).astype(float)
    X, alpha = support.rows(d), support.alpha
    ends = np.cumsum(np.abs(alpha)) / np.abs(alpha).sum()
    scale, b_law = family.scale(d), family.b_law
    normal_bias = b_law.name == "normal"
    stride = d + normal_bias
    counter, terms = Counter(key, t), []
    sigma = {
        "cos": np.cos,
        "erf": np.vectorize(math.erf),
        "tanh": np.tanh,
        "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
    }[family.activation]
    for start in range(0, m, TILE):
        n = min(TILE, m - start)
        u, phase = counter.uniform_pairs(n)
        i = np.searchsorted(ends, u, side="right")
        x_i, sign = X[i], np.sign(alpha[i])
        if units == "direct":
            parts = [min(at_once(stride), n - k) for k in range(0, n, at_once(stride))]
            omega = np.concatenate([counter.normals(k * stride)[: k * stride] for k in parts])
            omega = omega.reshape(n, stride)
            b = b_law.scale * (omega[:, d] if normal_bias else phase)
            at_row = scale * np.vecdot(omega[:, :d], x_i)
            at_x = scale * omega[:, :d] @ x
        elif units == "two normals":
            z = counter.normals((2 + normal_bias) * n)
            b = b_law.scale * (z[2 * n : 3 * n] if normal_bias else phase)
            norm = math.sqrt(x @ x)
            delta = x_i - x
            along = delta @ x / norm
            across = np.sqrt(np.maximum(np.vecdot(delta, delta) - along**2, 0.0))
            at_x = scale * norm * z[:n]
            at_row = at_x + scale * (along * z[:n] + across * z[n : 2 * n])
        else:
            z = counter.normals(n)[:n]
            distance = np.sqrt(np.vecdot(x_i - x, x_i - x))
            terms.append(sign * np.cos(scale * distance * z) / 2)
            continue
        terms.append(sign * sigma(at_row + b) * sigma(at_x + b))
    return np.concatenate(terms)


def block_terms(support, x, family, key: int, t: int, R: int, S: int) -> np.ndarray:
    """The R terms psi(x; w_r) mean_s sgn(alpha_i) psi(x_i; w_r) of event t, for cosines."""
    d = len(x)
    x = x.astype(np.float32).astype(float)
    X, alpha = support.rows(d), support.alpha
    ends = np.cumsum(np.abs(alpha)) / np.abs(alpha).sum()
    counter, terms = Counter(key, t), []
    tile = max(1, min(TILE, at_once(d)) // S)
    for start in range(0, R, tile):
        units = min(tile, R - start)
        u, phase = counter.uniform_pairs(units * S)
        i = np.searchsorted(ends, u, side="right").reshape(units, S)
        omega = family.scale(d) * counter.normals(units * d)[: units * d].reshape(units, d)
        b = 2 * math.pi * phase[::S]
        for r in range(units):
            at_rows = np.cos(X[i[r]] @ omega[r] + b[r])
            terms.append(np.cos(x @ omega[r] + b[r]) * np.mean(np.sign(alpha[i[r]]) * at_rows))
    return np.array(terms)
