"""Known results about Algorithms 1 and 2, as numbers: steps, noise, bounds, plans.

Where an argument lies outside its range, functions raise a ValueError that names it.
"""

import math
from typing import NamedTuple

from iln_stream.learners.checks import (
    require_counts,
    require_not_negative,
    require_positive,
    require_q,
)
from iln_stream.learners.draws import LARGEST_STEP, SATURATED_NOISE, theorem_1_covers

HEALTHY_KAPPA = 0.75
"""Up to this `kappa` noise harmed no run's f_t. Measured (benchmarks/divergence.py), not proved."""

CATASTROPHIC_KAPPA = 3.0
"""From this `kappa` on every run's E_t did worse than 0: measured there, not proved."""


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

    Examples
    --------
    >>> from iln_stream.theory import sum_of_steps
    >>> kappa(sum_of_steps(norm_bound=1.0, t=10_000, horizon=10_000), draws=100)
    5.0

    """
    require_not_negative(steps=steps)
    require_counts(draws=draws)
    return steps / (2 * math.sqrt(draws))


def diverging(
    alpha_l1: float, q: float, draws: int, norm_bound: float, target_rms: float = 1 / 3
) -> bool:
    """Return whether the noise of E, ||alpha||_1 sqrt(q / m), is as large as the targets.

    That is, above min(target_rms, `SATURATED_NOISE` B). An E whose standard deviation exceeds
    target_rms has a larger mean loss than the zero predictor, for any f_t. The noise here is an
    upper bound on that deviation, close to it for units of +-1; in measured runs with B >= 1 the
    two losses were equal at 0.86 to 1.13 target_rms (benchmarks/divergence.py). The second term is
    for a B far below the targets, where shrinks stop the noise before it reaches target_rms.

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

    Examples
    --------
    >>> diverging(alpha_l1=20.0, q=3 / 8, draws=10_000, norm_bound=1.0)
    False
    >>> diverging(alpha_l1=20.0, q=3 / 8, draws=1_000, norm_bound=1.0)
    True

    """
    require_positive(norm_bound=norm_bound, target_rms=target_rms)
    require_not_negative(alpha_l1=alpha_l1)
    require_q(q)
    require_counts(0 if alpha_l1 == 0 else 1, draws=draws)
    if alpha_l1 == 0:
        return False
    return alpha_l1 * math.sqrt(q / draws) > min(target_rms, SATURATED_NOISE * norm_bound)


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

    Examples
    --------
    >>> step_size(norm_bound=1.0, horizon=10_000)
    0.01

    """
    require_positive(norm_bound=norm_bound)
    require_counts(horizon=horizon)
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

    Examples
    --------
    >>> [anytime_step(norm_bound=2.0, t=t) for t in (1, 4, 16)]
    [1.0, 1.0, 0.5]

    """
    require_positive(norm_bound=norm_bound)
    require_counts(t=t)
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

    Examples
    --------
    >>> sum_of_steps(norm_bound=1.0, t=10_000, horizon=10_000)
    100.0
    >>> round(sum_of_steps(norm_bound=1.0, t=10_000), 3)
    198.545

    """
    require_positive(norm_bound=norm_bound)
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


def draws_of_theorem_1(norm_bound: float, horizon: int) -> int:
    """Return the draws per event that Theorem 1's proof requires; for reference, never a default.

    m = ceil(((16 B + 1) B)^2 T log gamma) with gamma = max(((16 B + 1) eta T + B)^2 / eta^2, e) and
    eta = B / sqrt(T). The first factor is the largest possible ||alpha||_1^2. By the corrected
    Hoeffding bound every E_t of the run is then within 1 of f_t(x_t), except with probability
    2 / (16 B + 1). It agrees with the theorem's O(B^4 T log BT).

    Parameters
    ----------
    norm_bound
        B, at least 1.
    horizon
        T, more than 64 B^2.

    Raises
    ------
    ValueError
        If the theorem does not cover the arguments; see `theorem_1_covers`.

    Examples
    --------
    >>> draws_of_theorem_1(norm_bound=1.0, horizon=10_000)
    69615140

    """
    _require_covered(norm_bound, horizon)
    return math.ceil(
        ((16 * norm_bound + 1) * norm_bound) ** 2 * horizon * _log_gamma(norm_bound, horizon)
    )


def lemma_2_bound(draws: int, step: float, t: int) -> float:
    """Bound P(|E_t - f_t(x_t)| > 8 B), and so that of a wrong shrink, without knowing alpha.

    2 exp(-32 m / (289 eta^2 t^2)), clipped at 1, for all B >= 1. It is `tail_bound` with eps = 8 B
    and ||alpha||_1 <= (16 B + 1) eta t, at B = 1, where that is largest. Lemma 2 prints
    2 exp(-m / (3 eta t)^2), that is 9 for 289 / 32 = 9.03, and proves it by the false Eq. 19.
    docs/paper.md proves the printed form for eta t <= 1092, and if B >= 1.0304 for all t.

    Parameters
    ----------
    draws
        m, at least 0.
    step
        eta, positive; the lemma requires less than 1/8.
    t
        Number of the event, from 1.

    Examples
    --------
    >>> round(lemma_2_bound(draws=1000, step=0.01, t=500), 4)
    0.0239

    """
    require_counts(0, draws=draws)
    require_counts(t=t)
    require_positive(step=step)
    return min(1.0, 2 * math.exp(-32 * draws / (289 * (step * t) ** 2)))


def regret_bound(
    norm_bound: float, horizon: int, variance: float | None = None, q: float = 1.0
) -> float:
    """Bound the expected regret of f_1..f_T against every f with ||f|| <= B.

    With eta = B / sqrt(T), v the variance of E_t and losses (f(x) - y)^2 / 2, for every stream,

        E[sum of losses of f_t] - sum of losses of f
            <= (B sqrt(T) (1 + v / 2) + T r) / (1 - eta).

    r, the cost of wrong shrinks, is exponentially small in B^2 q / v. This is Theorem 1's
    O(B sqrt(T)) with constants, derived in docs/paper.md, shrinking included. It bounds the regret
    of f_t: a user sees E_t, whose expected loss is larger by Var[E_t] / 2 per event.

    Parameters
    ----------
    norm_bound
        B, at least 1.
    horizon
        T, more than 64 B^2.
    variance
        v, positive, guaranteed by m_t >= q ||alpha||_1^2 / v draws on every event (see
        `draws_for_variance`; `ShrinkingGradient(variance=v)` takes them while `n_capped` is 0).
        None: that of `draws_of_theorem_1`.
    q
        The family's bound on E[psi^2 psi'^2], in (0, 1]. Only r depends on it.

    Raises
    ------
    ValueError
        If the theorem does not cover norm_bound and horizon, or an argument lies outside its range;
        the message names it.

    Examples
    --------
    >>> round(regret_bound(norm_bound=1.0, horizon=10_000, variance=0.01), 2)
    101.52

    """
    _require_covered(norm_bound, horizon)
    require_q(q)
    if variance is None:
        v, proxy = (1 / _log_gamma(norm_bound, horizon),) * 2
    else:
        require_positive(variance=variance)
        v, proxy = variance, variance / q
    eta = step_size(norm_bound, horizon)
    r = _price_of_wrong_shrinks(norm_bound, eta, proxy)
    return (norm_bound * math.sqrt(horizon) * (1 + v / 2) + horizon * r) / (1 - eta)


def _log_gamma(norm_bound: float, horizon: int) -> float:
    """Log of the proof's gamma; docs/paper.md says what it gives. Always above log e."""
    return 2 * math.log(
        (16 * norm_bound + 1) * horizon + norm_bound / step_size(norm_bound, horizon)
    )


def _price_of_wrong_shrinks(norm_bound: float, eta: float, proxy: float) -> float:
    """Return r of docs/paper.md: the expected cost in regret per event of rare errors of E_t.

    `proxy` is ||alpha||_1^2 / m, so that P(|E_t - f_t(x_t)| > z) <= 2 exp(-z^2 / (2 proxy)).
    """
    B, s = norm_bound, proxy
    lost_step = 9 * B * (17 * B + s / (8 * B)) + 0.3 * B**2 / eta
    lost_shrink = 12.25 * B**2 + 2 * s
    return 2 * math.exp(-32 * B**2 / s) * lost_step + math.exp(-6.125 * B**2 / s) * lost_shrink


def _require_covered(norm_bound: float, horizon: int) -> None:
    if theorem_1_covers(norm_bound, horizon):
        return
    if norm_bound < 1:
        raise ValueError(f"norm_bound = {norm_bound!r} must be at least 1 for Theorem 1")
    raise ValueError(
        f"horizon = {horizon!r} must exceed 64 norm_bound^2 = {64 * norm_bound**2:g} for Theorem 1"
    )


class Plan(NamedTuple):
    """Results of Theorem 1 for T events, and how much the noise of m draws feeds back.

    Parameters
    ----------
    step
        eta = B / sqrt(T).
    draws
        m, from the proof or as given.
    regret
        The bound on the expected regret against all ||f|| <= B. None with fewer draws than the
        paper's proof takes; `regret_bound` with their variance still holds.
    kappa
        (sum of steps) / (2 sqrt(m)); healthy up to `HEALTHY_KAPPA`.

    """

    step: float
    draws: int
    regret: float | None
    kappa: float


def plan(norm_bound: float, horizon: int, draws: int | None = None) -> Plan:
    """Return step, draws, regret bound and kappa for B and T: the entry point of this package.

    Parameters
    ----------
    norm_bound
        B, at least 1.
    horizon
        T, more than 64 B^2.
    draws
        m, at least 1. None: those of Theorem 1's proof.

    Raises
    ------
    ValueError
        If Theorem 1 does not cover B and T, or draws is not a number of draws.

    Examples
    --------
    >>> from iln_stream.theory import plan
    >>> step, draws, regret, kappa = plan(norm_bound=1.0, horizon=10_000)
    >>> step, draws, round(regret, 1), round(kappa, 3)
    (0.01, 69615140, 103.1, 0.006)
    >>> plan(norm_bound=1.0, horizon=10_000, draws=100)  # this kappa is catastrophic
    Plan(step=0.01, draws=100, regret=None, kappa=5.0)

    """
    proofs = draws_of_theorem_1(norm_bound, horizon)
    m = proofs if draws is None else draws
    return Plan(
        step=step_size(norm_bound, horizon),
        draws=m,
        regret=regret_bound(norm_bound, horizon) if m >= proofs else None,
        kappa=kappa(sum_of_steps(norm_bound, horizon, horizon), m),
    )
