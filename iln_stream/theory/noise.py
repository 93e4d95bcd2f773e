"""Diagnosing a run: does the noise of its estimates harm it? Measured, not proved."""

import math

from iln_stream.theory._arguments import require, require_counts, require_not_negative, require_q
from iln_stream.theory.covered import SATURATED_NOISE

HEALTHY_KAPPA = 0.75
"""Up to this `kappa` noise harmed no run's f_t. Measured, not proved: docs/theory.md."""

CATASTROPHIC_KAPPA = 3.0
"""From this `kappa` on every run's E_t did worse than 0. Measured, not proved: docs/theory.md."""


def kappa(steps: float, draws: int) -> float:
    """Return how much the noise of fixed draws feeds back: (sum of steps) / (2 sqrt(m)).

    It is the noise ||alpha||_1 / sqrt(m) that results from residuals of 1/2, at q = 1. Up to
    `HEALTHY_KAPPA` f_t was never harmed, from `CATASTROPHIC_KAPPA` on E_t was always worse than the
    zero predictor: measured, not proved. In between it depends on q and on the targets; there use
    `diverging`.

    Parameters
    ----------
    steps
        Sum of the steps taken, at least 0; see `sum_of_steps`.
    draws
        m, at least 1.

    Raises
    ------
    ValueError
        If an argument lies outside its range; the message names it.

    Examples
    --------
    >>> from iln_stream.theory import sum_of_steps
    >>> kappa(sum_of_steps(norm_bound=1.0, t=10_000, horizon=10_000), draws=100)
    5.0

    """
    require_not_negative(steps=steps)
    require_counts(1, draws=draws)
    return steps / (2 * math.sqrt(draws))


def diverging(
    alpha_l1: float, q: float, draws: int, norm_bound: float, target_rms: float = 1 / 3
) -> bool:
    """Return whether the noise of E, ||alpha||_1 sqrt(q / m), is as large as the targets.

    That is, above min(target_rms, `SATURATED_NOISE` B). An E whose standard deviation exceeds
    target_rms has a larger mean loss than the zero predictor, for any f_t. The noise here is an
    upper bound on that deviation, close to it for units of +-1; in measured runs with B >= 1 the
    two losses were equal at .86 to 1.13 target_rms (docs/theory.md). The second term is for a B far
    below the targets, where shrinks stop the noise before it reaches target_rms.

    Parameters
    ----------
    alpha_l1
        ||alpha||_1, at least 0.
    q
        The family's bound on E[psi^2 psi'^2], in (0, 1].
    draws
        m, at least 1; any number at least 0 if alpha_l1 = 0.
    norm_bound
        B, positive.
    target_rms
        Root mean square of the targets, positive. The default is that of `ScaledTarget`, 1 / width.

    Raises
    ------
    ValueError
        If an argument lies outside its range; the message names it.

    Examples
    --------
    >>> diverging(alpha_l1=20.0, q=3 / 8, draws=10_000, norm_bound=1.0)
    False
    >>> diverging(alpha_l1=20.0, q=3 / 8, draws=1_000, norm_bound=1.0)
    True

    """
    require(norm_bound=norm_bound, target_rms=target_rms)
    require_not_negative(alpha_l1=alpha_l1)
    require_q(q)
    require_counts(0 if alpha_l1 == 0 else 1, draws=draws)
    if alpha_l1 == 0:
        return False
    return alpha_l1 * math.sqrt(q / draws) > min(target_rms, SATURATED_NOISE * norm_bound)
