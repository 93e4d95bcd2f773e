"""Theorem 1, with its constants."""

import math

from iln_stream.theory._arguments import require, require_counts, require_q
from iln_stream.theory.covered import theorem_1_covers
from iln_stream.theory.steps import step_size


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
    docs/theory.md proves the printed form for eta t <= 1092, and if B >= 1.0304 for all t.

    Parameters
    ----------
    draws
        m, at least 0.
    step
        eta, positive; the lemma requires less than 1/8.
    t
        Number of the event, from 1.

    Raises
    ------
    ValueError
        If an argument lies outside its range; the message names it.

    Examples
    --------
    >>> round(lemma_2_bound(draws=1000, step=0.01, t=500), 4)
    0.0239

    """
    require_counts(0, draws=draws)
    require_counts(1, t=t)
    require(step=step)
    return min(1.0, 2 * math.exp(-32 * draws / (289 * (step * t) ** 2)))


def regret_bound(
    norm_bound: float, horizon: int, variance: float | None = None, q: float = 1.0
) -> float:
    """Bound the expected regret of f_1..f_T against every f with ||f|| <= B.

    With eta = B / sqrt(T), v the variance of E_t and losses (f(x) - y)^2 / 2, for every stream,

        E[sum of losses of f_t] - sum of losses of f
            <= (B sqrt(T) (1 + v / 2) + T r) / (1 - eta).

    r, the cost of wrong shrinks, is exponentially small in B^2 q / v. This is Theorem 1's
    O(B sqrt(T)) with constants, derived in docs/theory.md, shrinking included. It bounds the regret
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
        require(variance=variance)
        v, proxy = variance, variance / q
    eta = step_size(norm_bound, horizon)
    r = _price_of_wrong_shrinks(norm_bound, eta, proxy)
    return (norm_bound * math.sqrt(horizon) * (1 + v / 2) + horizon * r) / (1 - eta)


def _log_gamma(norm_bound: float, horizon: int) -> float:
    """Log of the proof's gamma; docs/theory.md says what it gives. Always above log e."""
    return 2 * math.log(
        (16 * norm_bound + 1) * horizon + norm_bound / step_size(norm_bound, horizon)
    )


def _price_of_wrong_shrinks(norm_bound: float, eta: float, proxy: float) -> float:
    """Return r of docs/theory.md: the expected cost in regret per event of rare errors of E_t.

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
