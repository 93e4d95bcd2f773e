"""Counter-based random numbers: a function of a key and a counter, with no other state.

Number c of event t is splitmix64's finaliser of `key + GOLDEN * (t << 32 | c)`: splitmix64's own
sequence from a keyed start, with a segment of 2^32 numbers for each event. (G. Steele, D. Lea,
C. Flood. Fast Splittable Pseudorandom Number Generators. OOPSLA 2014.)
"""

import numpy as np
from numba import float32, float64, int32, njit, uint64

from iln_stream.kernels.jit import compiled
from iln_stream.kernels.vectors import widest_vectors

# All explicitly uint64: a single Python int makes numba fall back to floats.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_11, _24, _27, _30, _31, _32 = (np.uint64(n) for n in (11, 24, 27, 30, 31, 32))
_LOW_24 = np.uint64(0xFFFFFF)
_2_24, _2_31, _2_32 = (np.float32(2.0**-n) for n in (24, 31, 32))
_2_40, _2_53 = (2.0**-n for n in (40, 53))

_SIGN = np.int32(-(2**31))
_NOT_SIGN = np.int32(2**31 - 1)
_ROOT_HALF = np.int32(0x3F3504F3)  # the bits of sqrt(1/2)
_23 = np.int32(23)
_LN_2 = np.float32(0.6931471805599453)

# Polynomials through Chebyshev nodes.
# log(1 + m) / m on sqrt(1/2) <= 1 + m <= sqrt(2): error below 1.5e-6.
_L0, _L1, _L2, _L3, _L4, _L5, _L6 = (
    np.float32(v)
    for v in (
        1.000001072883606,
        -0.500008761882782,
        0.3331356346607208,
        -0.2492033690214157,
        0.2052544355392456,
        -0.18573839962482452,
        0.11657806485891342,
    )
)
# sin(pi a) / a in a^2 for |a| <= 1/2: error below 2e-8.
_S0, _S1, _S2, _S3, _S4 = (
    np.float32(v)
    for v in (
        3.1415926400772016,
        -5.167710076668165,
        2.550077386526186,
        -0.5982904112667203,
        0.07765591224331467,
    )
)
# cos(pi a) in a^2 for |a| <= 1/2: error below 3e-10.
_C0, _C1, _C2, _C3, _C4, _C5 = (
    np.float32(v)
    for v in (
        0.9999999997791529,
        -4.934802136928833,
        4.058709154760502,
        -1.335211949366169,
        0.23493706849740192,
        -0.0243959319559508,
    )
)


@njit(inline="always")
def _finalise(z):  # type: ignore[no-untyped-def]
    z = (z ^ (z >> _30)) * _FIRST
    z = (z ^ (z >> _27)) * _SECOND
    return z ^ (z >> _31)


@njit(inline="always")
def counter_of(t):  # type: ignore[no-untyped-def]
    """The counter before event t's first number."""
    return uint64(t) << _32


@compiled
def fill_uniforms(key, counter, n, r):  # type: ignore[no-untyped-def]
    """r[:n] ~ U[0, 1) of 53 bits, from the n numbers after `counter`."""
    widest_vectors()
    state = key + _GOLDEN * counter
    for k in range(n):
        state += _GOLDEN
        r[k] = float64(_finalise(state) >> _11) * _2_53


@compiled
def fill_uniform_pairs(key, counter, n, r, phase):  # type: ignore[no-untyped-def]
    """r[:n] of 40 bits and phase[:n] of 24, both U[0, 1), from the n numbers after `counter`."""
    widest_vectors()
    state = key + _GOLDEN * counter
    for k in range(n):
        state += _GOLDEN
        z = _finalise(state)
        r[k] = float64(z >> _24) * _2_40
        phase[k] = float32(np.int32(z & _LOW_24)) * _2_24


@compiled
def fill_normals(key, counter, pairs, bits, normals):  # type: ignore[no-untyped-def]
    """normals[: 2 pairs] ~ N(0, 1), from the numbers after `counter`.

    Box-Muller: each number's halves give the radius and the angle of two normals, stored `pairs`
    apart. Their largest size is 6.6, from 31 bits for the radius. Numbers are generated in blocks
    as long as `bits` (uint64), because two loops vectorise better than one.
    """
    widest_vectors()
    state = key + _GOLDEN * counter
    halves = bits.view(np.int32)
    for start in range(0, pairs, len(bits)):
        n = min(len(bits), pairs - start)
        for k in range(n):
            state += _GOLDEN
            bits[k] = _finalise(state)
        cosines, sines = normals[start:], normals[pairs + start :]
        for k in range(n):
            low, high = halves[2 * k], halves[2 * k + 1]
            u = (float32(int32(high & _NOT_SIGN)) + float32(0.5)) * _2_31
            of_u = np.float32(u).view(np.int32)
            exponent = int32(int32(of_u - _ROOT_HALF) >> _23)
            m = np.int32(of_u - int32(exponent << _23)).view(np.float32) - float32(1.0)
            log = m * (_L0 + m * (_L1 + m * (_L2 + m * (_L3 + m * (_L4 + m * (_L5 + m * _L6))))))
            log += float32(exponent) * _LN_2
            radius = np.sqrt(float32(-2.0) * log)
            # The angle covers half a turn; the remaining bit is the sign of the cosine.
            a = float32(low) * _2_32
            s = a * a
            cos = _C0 + s * (_C1 + s * (_C2 + s * (_C3 + s * (_C4 + s * _C5))))
            sin = a * (_S0 + s * (_S1 + s * (_S2 + s * (_S3 + s * _S4))))
            signed = np.int32(np.float32(radius).view(np.int32) ^ int32(high & _SIGN)).view(
                np.float32
            )
            cosines[k] = signed * cos
            sines[k] = radius * sin
