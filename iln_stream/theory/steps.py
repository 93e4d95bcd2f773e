"""Step sizes, and their sums."""

import math

from iln_stream.theory._arguments import require, require_counts
from iln_stream.theory.covered import LARGEST_STEP

_ZETA_HALF = -1.4603545088095868  # zeta(1/2)

_SUMMED_EXACTLY = 64


def step_size(norm_bound: float, horizon: int) -> float:
    """Return the step eta = B / sqrt(T) for a known number of events.

    Theorem 1. (Its proof has B / (2 sqrt(T)); `regret_bound` proves the theorem's own.)

    Parameters
    ----------
    norm_bound
        B, positive.
    horizon
        T, at least 1.

    Raises
    ------
    ValueError
        If an argument lies outside its range; the message names it.

    Examples
    --------
    >>> step_size(norm_bound=1.0, horizon=10_000)
    0.01

    """
    require(norm_bound=norm_bound)
    require_counts(1, horizon=horizon)
    return norm_bound / math.sqrt(horizon)


def anytime_step(norm_bound: float, t: int) -> float:
    """Return the step of event t when T is unknown, eta_t = min(B / sqrt(t), 1).

    This schedule is ours: Theorem 1 does not cover it.

    Parameters
    ----------
    norm_bound
        B, positive.
    t
        Number of the event, from 1.

    Raises
    ------
    ValueError
        If an argument lies outside its range; the message names it.

    Examples
    --------
    >>> [anytime_step(norm_bound=2.0, t=t) for t in (1, 4, 16)]
    [1.0, 1.0, 0.5]

    """
    require(norm_bound=norm_bound)
    require_counts(1, t=t)
    return min(norm_bound / math.sqrt(t), LARGEST_STEP)


def sum_of_steps(norm_bound: float, t: int, horizon: int | None = None) -> float:
    """Return the sum of the first t steps, of either schedule.

    With a horizon it is t B / sqrt(T), so B sqrt(T) in the end; without, about 2 B sqrt(t). Takes
    the same short time for every t (Euler-Maclaurin, relative error below 1e-12).

    Parameters
    ----------
    norm_bound
        B, positive.
    t
        Number of events, at least 0.
    horizon
        T, at least 1, for the steps of `step_size`. None: those of `anytime_step`.

    Raises
    ------
    ValueError
        If an argument lies outside its range; the message names it.

    Examples
    --------
    >>> sum_of_steps(norm_bound=1.0, t=10_000, horizon=10_000)
    100.0
    >>> round(sum_of_steps(norm_bound=1.0, t=10_000), 3)
    198.545

    """
    require(norm_bound=norm_bound)
    require_counts(0, t=t)
    if horizon is not None:
        return t * step_size(norm_bound, horizon)
    capped = t if norm_bound >= math.sqrt(t) else math.floor(norm_bound**2)
    return capped * LARGEST_STEP + norm_bound * (_inverse_roots(t) - _inverse_roots(capped))


def _inverse_roots(t: int) -> float:
    """Sum of 1 / sqrt(s) for s = 1..t."""
    if t <= _SUMMED_EXACTLY:
        return math.fsum(1 / math.sqrt(s) for s in range(1, t + 1))
    root = math.sqrt(t)
    return 2 * root + _ZETA_HALF + 1 / (2 * root) - 1 / (24 * root**3) + 1 / (384 * root**7)
