"""Activations in single precision, written so that the compiler can vectorise them.

Other kernels call `activate(code, z, psi)`. Cosines take their argument in turns: callers that
store omega and b for them multiply both by `TURNS`. Arguments may be single or double; results
are single. Absolute errors, for finite arguments of any size:

| activation | error | by |
|---|---|---|
| cosine | 2e-7 | a polynomial, after whole turns are removed in the argument's own precision |
| tanh, sigmoid, erf | 5e-7 | rational functions, constant where sigma is 1 to this precision |
| relu | rounding | |

The coefficients are our own minimax fits: least squares, reweighted until the error is level.
"""

import math

import numpy as np
from numba import float32, njit

from iln_stream.kernels.jit import FAST, compiled
from iln_stream.kernels.vectors import (
    WIDE_LANES,
    larger,
    load,
    smaller,
    spread,
    store,
    widest_vectors,
)

COS, ERF, TANH, SIGMOID, RELU = range(5)

CODES = {"cos": COS, "erf": ERF, "tanh": TANH, "sigmoid": SIGMOID, "relu": RELU}
"""Codes of the activations in compiled functions, by name."""

TURNS = 1.0 / (2.0 * math.pi)
"""Turns in a radian."""


def _singles(*values: float) -> tuple[np.float32, ...]:
    return tuple(np.float32(v) for v in values)


# sin(2 pi c) / c as a polynomial in c^2 on |c| <= 1/4: error 4e-9.
_S0, _S1, _S2, _S3, _S4 = _singles(6.28318516, -41.34165503, 81.60100404, -76.54978145, 39.53669948)

# tanh(z) / z as a ratio of polynomials in z^2 on |z| <= 9: error 2e-8.
T0, T1, T2, T3, T4 = _singles(
    0.9999998807907104, 0.13373197615146637, 3.486581845209e-3, 2.0471828975e-5, 1.318422083e-8
)
U1, U2, U3, U4 = _singles(
    0.4670649468898773, 0.025841979309916496, 3.271385212429e-4, 7.702662401e-7
)
TANH_ENDS = np.float32(9.0)

# erf(z) / z likewise on |z| <= 3.95: error 2e-8.
_E0, _E1, _E2, _E3, _E4, _E5 = _singles(
    1.128378987312317,
    0.1940360963344574,
    0.05320711061358452,
    3.917334135622e-3,
    2.876007929444e-4,
    2.011736342e-6,
)
_F1, _F2, _F3, _F4, _F5 = _singles(
    0.5052915215492249, 0.11559091508388519, 0.015270734205842018, 1.198204467073e-3, 3.783965439e-5
)
_ERF_ENDS = np.float32(3.95)
_ONE = np.float32(1.0)


@njit(inline="always")
def cos_turns(u):  # type: ignore[no-untyped-def]
    """cos(2 pi u)."""
    r = float32(u - np.floor(u + float32(0.5)))
    c = float32(0.25) - abs(r)
    s = c * c
    return c * (_S0 + s * (_S1 + s * (_S2 + s * (_S3 + s * _S4))))


@njit(inline="always")
def tanh(z):  # type: ignore[no-untyped-def]
    """tanh(z)."""
    c = float32(min(max(z, -TANH_ENDS), TANH_ENDS))
    s = c * c
    p = T0 + s * (T1 + s * (T2 + s * (T3 + s * T4)))
    q = _ONE + s * (U1 + s * (U2 + s * (U3 + s * U4)))
    return min(max(c * p / q, -_ONE), _ONE)


@njit(inline="always")
def erf(z):  # type: ignore[no-untyped-def]
    """erf(z)."""
    c = float32(min(max(z, -_ERF_ENDS), _ERF_ENDS))
    s = c * c
    p = _E0 + s * (_E1 + s * (_E2 + s * (_E3 + s * (_E4 + s * _E5))))
    q = _ONE + s * (_F1 + s * (_F2 + s * (_F3 + s * (_F4 + s * _F5))))
    return min(max(c * p / q, -_ONE), _ONE)


@njit(fastmath=FAST, forceinline=True, error_model="numpy")  # a loop that can raise won't vectorise
def activate(code, z, psi):  # type: ignore[no-untyped-def]
    """Set psi to sigma(z), entry by entry; `code` is one of `CODES`.

    psi may be z itself, but then entries are computed one by one, at several times the cost.
    """
    widest_vectors()
    half = float32(0.5)
    if code == COS:
        for k in range(z.shape[0]):
            psi[k] = cos_turns(z[k])
    elif code == ERF:
        for k in range(z.shape[0]):
            psi[k] = erf(z[k])
    elif code == TANH:
        for k in range(z.shape[0]):
            psi[k] = tanh(z[k])
    elif code == SIGMOID:
        for k in range(z.shape[0]):
            psi[k] = half + half * tanh(half * z[k])
    else:
        for k in range(z.shape[0]):
            psi[k] = max(z[k], float32(0.0))


@compiled
def wide_tanh(z):  # type: ignore[no-untyped-def]
    """tanh(z) of sixteen numbers, within 5e-7: the same ratio as in `activations`; nan of nan."""
    one = spread(1.0)
    c = smaller(spread(TANH_ENDS), larger(spread(-TANH_ENDS), z))
    s = c * c
    p = spread(T0) + s * (spread(T1) + s * (spread(T2) + s * (spread(T3) + s * spread(T4))))
    q = one + s * (spread(U1) + s * (spread(U2) + s * (spread(U3) + s * spread(U4))))
    return smaller(one, larger(spread(-1.0), c * p / q))


@compiled
def activate_layer(H, D):  # type: ignore[no-untyped-def]
    """Replace preactivations H (m, n) by sigma(H), and set D to sigma'(H); n a multiple of 32.

    sigma is tanh in the first half of the columns, and u / (1 + exp(-u)), SiLU, in the second.
    """
    one, half = spread(1.0), spread(0.5)
    middle = H.shape[1] // 2
    for i in range(H.shape[0]):
        for j in range(0, middle, WIDE_LANES):
            t = wide_tanh(load(H, i, j))
            store(H, i, j, t)
            store(D, i, j, one - t * t)
        for j in range(middle, H.shape[1], WIDE_LANES):
            u = load(H, i, j)
            s = half + half * wide_tanh(half * u)
            store(H, i, j, u * s)
            store(D, i, j, s * (one + u * (one - s)))
