"""Hidden units sigma(omega.v + b) at a point, and the gradient of a weighted sum of them."""

import numpy as np

from iln_stream.compiled.activations import COS, cos_turns
from iln_stream.compiled.jit import compiled

LINEAR_SCALE = 0.3
"""Weight of the linear features beside the units, whose sum of squares is about 9."""


@compiled
def unit_scale(R):  # type: ignore[no-untyped-def]
    """The factor of each of R units."""
    return 3.0 * np.sqrt(2.0 / R)


@compiled
def preactivations(omega, b, v, u):  # type: ignore[no-untyped-def]
    """u_r = sum_j omega[j, r] v_j + b_r; omega (d, R), b (R,), v (d,)."""
    R = u.shape[0]
    for r in range(R):
        u[r] = b[r]
    for j in range(v.shape[0]):
        v_j = np.float32(v[j])
        if v_j != 0.0:
            row = omega[j]
            for r in range(R):
                u[r] += row[r] * v_j


@compiled
def features(omega, b, activation, linear, v, u, phi):  # type: ignore[no-untyped-def]
    """phi = [3 sqrt(2/R) sigma(u), 1, .3 v], shape (R + 1 + d,); v only where `linear` is 1."""
    R = u.shape[0]
    if R > 0:
        scale = unit_scale(R)
        preactivations(omega, b, v, u)
        if activation == COS:
            for r in range(R):
                phi[r] = scale * cos_turns(u[r])
        else:
            for r in range(R):
                phi[r] = scale * max(u[r], np.float32(0.0))
    phi[R] = 1.0
    for j in range(v.shape[0]):
        phi[R + 1 + j] = LINEAR_SCALE * v[j] * linear[j]


@compiled
def gradient(omega, activation, linear, theta, u, a, g):  # type: ignore[no-untyped-def]
    """g = gradient in v of theta.phi(v), shape (d,); u as left by `features`, a (R,) is scratch."""
    R = u.shape[0]
    if R > 0:
        scale = unit_scale(R)
        if activation == COS:
            turns = -2.0 * np.pi * scale
            for r in range(R):  # sin(2 pi u) = cos(2 pi (u - 1/4))
                a[r] = np.float32(turns * theta[r]) * cos_turns(u[r] - np.float32(0.25))
        else:
            for r in range(R):
                a[r] = np.float32(scale * theta[r]) if u[r] > 0.0 else np.float32(0.0)
    for j in range(g.shape[0]):
        total = np.float32(0.0)
        row = omega[j]
        for r in range(R):
            total += row[r] * a[r]
        g[j] = total + LINEAR_SCALE * linear[j] * theta[R + 1 + j]
