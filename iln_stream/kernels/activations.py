"""Activations in single precision, written so that the compiler can vectorise them."""

import numpy as np
from numba import float32, njit

from iln_stream.kernels.compiled import compiled

CODES = {"cos": 0, "erf": 1, "tanh": 2, "sigmoid": 3, "relu": 4}
"""What compiled code knows an activation's name by. Its cosine is of turns, cos(2 pi z)."""

# sin(2 pi c) / c as a polynomial in c^2, minimax on |c| <= 1/4: error below 4e-9.
_S0, _S1, _S2, _S3, _S4 = (
    np.float32(v) for v in (6.28318516, -41.34165503, 81.60100404, -76.54978145, 39.53669948)
)

# 2^f through Chebyshev nodes on |f| <= 1/2: error below 3e-9.
_E0, _E1, _E2, _E3, _E4, _E5, _E6 = (
    np.float32(v)
    for v in (
        1.0,
        0.6931472067028329,
        0.24022650922289554,
        0.05550327226669895,
        0.00961805667843204,
        0.0013400428177711937,
        0.00015461444724808513,
    )
)
_LOG2_E = np.float32(1.4426950408889634)

# erf(z) = 1 - (t a_1 + .. + t^5 a_5) exp(-z^2), t = 1 / (1 + p z), z >= 0: error below 1.5e-7.
# M. Abramowitz, I. Stegun. Handbook of Mathematical Functions, 7.1.26.
_P, _A1, _A2, _A3, _A4, _A5 = (
    np.float32(v)
    for v in (0.3275911, 0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
)


@njit(inline="always")
def cos_turns(u):  # type: ignore[no-untyped-def]
    """cos(2 pi u)."""
    r = u - np.floor(u + float32(0.5))
    c = float32(0.25) - abs(r)
    s = c * c
    return c * (_S0 + s * (_S1 + s * (_S2 + s * (_S3 + s * _S4))))


@njit(inline="always")
def _exp(z):  # type: ignore[no-untyped-def]
    """exp(z) for |z| <= 80."""
    y = z * _LOG2_E
    n = np.floor(y + float32(0.5))
    f = y - n
    p = _E0 + f * (_E1 + f * (_E2 + f * (_E3 + f * (_E4 + f * (_E5 + f * _E6)))))
    return p * np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)


@compiled
def activate(code, z, n):  # type: ignore[no-untyped-def]
    """z[k] <- sigma(z[k]) for k < n, with sigma by its code; infinite z have their limits."""
    if code == 0:
        for k in range(n):
            z[k] = cos_turns(z[k])
    elif code == 1:
        for k in range(n):
            a = min(abs(z[k]), float32(4.0))
            t = float32(1.0) / (float32(1.0) + _P * a)
            tail = t * (_A1 + t * (_A2 + t * (_A3 + t * (_A4 + t * _A5)))) * _exp(-a * a)
            z[k] = np.copysign(float32(1.0) - tail, z[k])
    elif code == 2:
        for k in range(n):
            a = min(max(z[k], float32(-10.0)), float32(10.0))
            z[k] = float32(1.0) - float32(2.0) / (_exp(a + a) + float32(1.0))
    elif code == 3:
        for k in range(n):
            a = min(max(z[k], float32(-40.0)), float32(40.0))
            z[k] = float32(1.0) / (float32(1.0) + _exp(-a))
    else:
        for k in range(n):
            z[k] = max(z[k], float32(0.0))
