"""Algorithms 1 and 2 in the paper's symbols, one scalar at a time.

R. Livni, D. Carmon, A. Globerson. Learning Infinite Layer Networks Without the Kernel Trick. ICML
2017. One misprint is mended: alpha_t = +eta (y_t - E_t), as in Eq. 9 (Algorithm 1 prints -).
Nothing is optimised; `ShrinkingGradient` is the fast form.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class Iterate(NamedTuple):
    """f_t = sum_i alpha_i Phi(x_i).

    Parameters
    ----------
    alpha
        Coefficients.
    x
        Points, as many.

    """

    alpha: tuple[float, ...] = ()
    x: tuple[Vector, ...] = ()


def est_scalar_prod(
    f: Iterate,
    x: Vector,
    m: int,
    psi: Callable[[Vector, Any], float],
    draw: Callable[[], tuple[float, Any]],
) -> float:
    """Return E, an unbiased estimate of <f, Phi(x)> (Algorithm 2, EST_SCALAR_PROD).

    Parameters
    ----------
    f
        f_t.
    x
        Inputs, (d,).
    m
        Draws.
    psi
        psi(x; w), within [-1, 1].
    draw
        Returns (u, w): u ~ U[0, 1) chooses i with probability |alpha_i| / ||alpha||_1, w ~ mu.

    """
    alpha_l1 = sum(abs(a) for a in f.alpha)
    if alpha_l1 == 0:
        return 0.0
    E = 0.0
    for _ in range(m):
        u, w = draw()
        i, cumulated = 0, abs(f.alpha[0])
        while cumulated <= u * alpha_l1 and i < len(f.alpha) - 1:
            i += 1
            cumulated += abs(f.alpha[i])
        sign = 1 if f.alpha[i] > 0 else -1
        E += sign * psi(f.x[i], w) * psi(x, w)
    return alpha_l1 * E / m


def shrinking_gradient_step(
    f: Iterate, x_t: Vector, y_t: float, E_t: float, eta: float, B: float
) -> Iterate:
    """Return f_{t+1} (the body of Algorithm 1, SHRINKING_GRADIENT).

    `ShrinkingGradient.learn_row`, in iln_stream/learners/shrinking_gradient.py, is this step.

    Parameters
    ----------
    f
        f_t.
    x_t, y_t
        The event, |y_t| <= 1.
    E_t
        An unbiased estimate of <f_t, Phi(x_t)>.
    eta
        The step; B / sqrt(T) in Theorem 1.
    B
        The norm bound.

    """
    if abs(E_t) < 16 * B:
        return Iterate((*f.alpha, eta * (y_t - E_t)), (*f.x, x_t))
    return Iterate(tuple(a / 4 for a in f.alpha), f.x)
