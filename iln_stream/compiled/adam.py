"""AdamW with Nesterov's momentum, and averages of the weights.

I. Loshchilov, F. Hutter. Decoupled Weight Decay Regularization. ICLR 2019. T. Dozat. Incorporating
Nesterov Momentum into Adam. ICLR Workshop 2016. B. Polyak, A. Juditsky. Acceleration of Stochastic
Approximation by Averaging. SIAM J. Control Optim. 30, 1992.
"""

import numpy as np
from numba import float32

from iln_stream.compiled.jit import compiled
from iln_stream.compiled.wide_lanes import LANES, larger, load, root, spread, store

WEIGHTS, MOMENTS, SQUARES, SHORT, LONG = range(5)
"""Rows of the parameters, shape (5, S): weights, means of their gradients and of the squares of
these, and averages of the weights over a shorter and a longer past."""

BETA_1, BETA_2 = 0.9, 0.999

FLOOR = 1e-16
"""Least mean square of a gradient: smaller gradients move a weight by less than the rate."""

_TINY = 1e-25
"""Added to each gradient's mean, which would otherwise fade into slow subnormal numbers."""


@compiled
def descend(parameters, gradient, first, last, step, rate, decay):  # type: ignore[no-untyped-def]
    """Move the weights first..last - 1, multiples of 16, by the gradient (1, S).

    The step counts from 1.
    """
    b1, a1 = spread(float32(BETA_1)), spread(float32(1.0 - BETA_1))
    b2, a2 = spread(float32(BETA_2)), spread(float32(1.0 - BETA_2))
    floor, tiny = spread(float32(FLOOR)), spread(float32(_TINY))
    keep = spread(float32(1.0 - rate * decay))
    bias_1, bias_2 = 1.0 - BETA_1**step, 1.0 - BETA_2**step
    move = spread(float32(rate * np.sqrt(bias_2) / bias_1))
    for j in range(first, last, LANES):
        g = load(gradient, 0, j)
        g1 = a1 * g + tiny
        m = b1 * load(parameters, MOMENTS, j) + g1
        v = larger(b2 * load(parameters, SQUARES, j) + a2 * g * g, floor)
        w = keep * load(parameters, WEIGHTS, j) - move * (b1 * m + g1) / root(v)
        store(parameters, MOMENTS, j, m)
        store(parameters, SQUARES, j, v)
        store(parameters, WEIGHTS, j, w)


@compiled
def average(parameters, first, last, short, long):  # type: ignore[no-untyped-def]
    """Move the averages of weights first..last - 1 towards the weights by these fractions."""
    s, o = spread(float32(short)), spread(float32(long))
    for j in range(first, last, LANES):
        w = load(parameters, WEIGHTS, j)
        e = load(parameters, SHORT, j)
        store(parameters, SHORT, j, e + s * (w - e))
        e = load(parameters, LONG, j)
        store(parameters, LONG, j, e + o * (w - e))
