"""What a run of Algorithm 1 needs of its theory: draws of an estimate, and Theorem 1's range.

Where an argument lies outside its range, functions raise a ValueError that names it.
"""

import math

from iln_stream.learners.checks import (
    require_counts,
    require_not_negative,
    require_positive,
    require_q,
)

LARGEST_STEP = 1.0
"""Cap of the anytime step: k(x, x) <= 1, so one step never overshoots its own target."""

SATURATED_NOISE = 2.0
"""Runs that shrank had more noise than this times B. Measured by benchmarks/divergence.py."""


def theorem_1_covers(norm_bound: float, horizon: int) -> bool:
    """Return whether B >= 1 and eta = B / sqrt(T) < 1/8, that is T > 64 B^2.

    The proof of Theorem 1 (Lemma 2) requires this. It also requires of a run: targets in [-1, 1],
    |psi| <= 1, all support points kept, and enough draws.

    Parameters
    ----------
    norm_bound
        B, positive.
    horizon
        T, at least 1.

    Examples
    --------
    >>> [theorem_1_covers(norm_bound=1.0, horizon=T) for T in (1, 64, 65)]
    [False, False, True]

    """
    require_positive(norm_bound=norm_bound)
    require_counts(horizon=horizon)
    return norm_bound >= 1 and horizon > 64 * norm_bound**2


def tail_bound(draws: int, eps: float, alpha_l1: float, q: float | None = None) -> float:
    """Bound P(|E - f(x)| > eps) for one estimate E of Algorithm 2.

    The smallest of Hoeffding's 2 exp(-m eps^2 / (2 ||alpha||_1^2)), Bernstein's
    2 exp(-m eps^2 / (2 ||alpha||_1^2 (q + u / 3))), u = eps / ||alpha||_1, if q is given, and 1.
    Eq. 19 of the paper, exp(-m eps^2 / ||alpha||_1^2), is false: terms span 2 ||alpha||_1, and
    errors have two sides. Bernstein's is ours; it needs only E[term^2] <= q ||alpha||_1^2 and
    |term| <= ||alpha||_1 [1]_.

    Parameters
    ----------
    draws
        m, at least 0.
    eps
        Error, positive, in units of the target.
    alpha_l1
        ||alpha||_1, at least 0. At 0, E = 0 is exact.
    q
        The family's bound on E[psi^2 psi'^2], in (0, 1]. None: Hoeffding's bound alone.

    References
    ----------
    .. [1] S. Boucheron, G. Lugosi, P. Massart. Concentration Inequalities. 2013. Theorem 2.10.

    Examples
    --------
    >>> round(tail_bound(draws=1000, eps=0.1, alpha_l1=1.0), 4)
    0.0135
    >>> round(tail_bound(draws=1000, eps=0.1, alpha_l1=1.0, q=3 / 8), 7)
    9.6e-06

    """
    require_counts(0, draws=draws)
    decay = _decay(eps, alpha_l1, q)
    if decay == math.inf:
        return 0.0
    return min(1.0, 2 * math.exp(-draws * decay))


def draws_for(eps: float, delta: float, alpha_l1: float, q: float | None = None) -> int:
    """Return the fewest draws for which `tail_bound` is at most delta.

    Then |E - f(x)| <= eps with probability 1 - delta. This is the prediction part of Theorem 1,
    with the actual ||alpha||_1 in place of the largest possible, and with Eq. 19 corrected. Exact
    up to some 1e14 draws, beyond which floating-point numbers can't resolve neighbours.

    Parameters
    ----------
    eps
        Error, positive, in units of the target.
    delta
        Probability of a larger error, in (0, 1).
    alpha_l1
        ||alpha||_1, at least 0. At 0 no draw is needed.
    q
        The family's bound on E[psi^2 psi'^2], in (0, 1]; fewer draws when
        q < 1 - eps / (3 ||alpha||_1). None: Hoeffding's bound alone.

    Raises
    ------
    OverflowError
        If the number of draws exceeds the range of floating-point numbers.

    Examples
    --------
    >>> draws_for(eps=0.1, delta=0.05, alpha_l1=10.0)
    73778
    >>> draws_for(eps=0.1, delta=0.05, alpha_l1=10.0, q=3 / 8)
    27913

    """
    if not 0 < delta < 1:
        raise ValueError(f"delta = {delta!r} must lie strictly between 0 and 1")
    decay = _decay(eps, alpha_l1, q)
    if decay == math.inf:
        return 0
    if decay == 0:
        raise OverflowError(f"eps = {eps!r} is too small for alpha_l1 = {alpha_l1!r}")
    m = math.ceil((math.log(2) - math.log(delta)) / decay)
    # Rounding may make m off by one.
    if tail_bound(m, eps, alpha_l1, q) > delta:
        m += 1
    elif m > 1 and tail_bound(m - 1, eps, alpha_l1, q) <= delta:
        m -= 1
    return m


def draws_for_variance(alpha_l1: float, variance: float, q: float) -> int:
    """Return the draws that keep the variance of E within bounds, ceil(q ||alpha||_1^2 / v).

    From Var[E] <= q ||alpha||_1^2 / m. `ShrinkingGradient` takes this number when `draws` is None,
    limited by `min_draws` and `max_draws`. The paper has no such rule.

    Parameters
    ----------
    alpha_l1
        ||alpha||_1, at least 0. At 0 no draw is needed.
    variance
        v, positive, in squared units of the target.
    q
        The family's bound on E[psi^2 psi'^2], in (0, 1].

    Raises
    ------
    OverflowError
        If the number of draws exceeds the range of floating-point numbers.

    Examples
    --------
    >>> draws_for_variance(alpha_l1=41.0, variance=0.01, q=3 / 8)
    63038

    """
    require_positive(variance=variance)
    require_not_negative(alpha_l1=alpha_l1)
    require_q(q)
    return math.ceil(q * alpha_l1**2 / variance)


def _decay(eps: float, alpha_l1: float, q: float | None) -> float:
    """Return a draw's share of the tail bound's exponent; infinite where E is exact."""
    require_positive(eps=eps)
    require_not_negative(alpha_l1=alpha_l1)
    if q is not None:
        require_q(q)
    if alpha_l1 == 0:
        return math.inf
    r = eps / alpha_l1
    spread = 1.0 if q is None else min(1.0, q + r / 3)
    return r * r / (2 * spread)
