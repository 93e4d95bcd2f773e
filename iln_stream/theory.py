r"""What is known about Algorithms 1 and 2, as numbers: steps, draws, error and regret bounds.

The paper is R. Livni, D. Carmon, A. Globerson, *Learning Infinite Layer Networks Without the
Kernel Trick*, ICML 2017. Where its print is wrong the corrected form is computed and the docstring
says so. docs/theory.md derives what the paper does not, and tells what is proved from what is
measured.

Symbols: B the norm bound, T the horizon, eta the step, m the draws of one estimate,
||alpha||_1 the sum of |alpha_i|, q in (0, 1] a family's bound on E[psi^2 psi'^2]. Targets lie in
[-1, 1] and are without unit, so everything here is. All functions are pure.
"""

import math

LARGEST_STEP = 1.0
"""Cap of the anytime step: k(x, x) <= 1, so one step never overshoots its own target."""

HEALTHY_KAPPA = 0.75
"""Up to this `kappa` no run's f_t was harmed by noise. Measured, not proved: docs/theory.md."""

CATASTROPHIC_KAPPA = 3.0
"""From this `kappa` on every run's E_t did worse than 0. Measured, not proved: docs/theory.md."""

SATURATED_NOISE = 2.0
"""Runs that shrank had more noise than this times B. Measured, not proved: docs/theory.md."""

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
    _require(norm_bound=norm_bound)
    _require_counts(1, horizon=horizon)
    return norm_bound / math.sqrt(horizon)


def anytime_step(norm_bound: float, t: int) -> float:
    """Return the step of event t when T is unknown, eta_t = min(B / sqrt(t), 1).

    Ours: Theorem 1 does not cover it.

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
    _require(norm_bound=norm_bound)
    _require_counts(1, t=t)
    return min(norm_bound / math.sqrt(t), LARGEST_STEP)


def sum_of_steps(norm_bound: float, t: int, horizon: int | None = None) -> float:
    """Return the sum of the first t steps, of either schedule.

    With a horizon t B / sqrt(T), so B sqrt(T) in the end; without about 2 B sqrt(t). Takes the same
    short time for every t (Euler-Maclaurin, relative error below 1e-12).

    Parameters
    ----------
    norm_bound
        B, positive.
    t
        Number of events, at least 0.
    horizon
        T, at least 1, for `step_size`. None: for `anytime_step`.

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
    _require(norm_bound=norm_bound)
    _require_counts(0, t=t)
    if horizon is not None:
        return t * step_size(norm_bound, horizon)
    capped = t if norm_bound >= math.sqrt(t) else math.floor(norm_bound**2)
    return capped * LARGEST_STEP + norm_bound * (_inverse_roots(t) - _inverse_roots(capped))


def theorem_1_covers(norm_bound: float, horizon: int) -> bool:
    """Tell whether B >= 1 and eta = B / sqrt(T) < 1/8, that is T > 64 B^2.

    Theorem 1 and Lemma 2. Of a run it asks more: targets in [-1, 1], |psi| <= 1, all support points
    kept, and enough draws.

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
    >>> theorem_1_covers(norm_bound=1.0, horizon=64), theorem_1_covers(norm_bound=1.0, horizon=65)
    (False, True)

    """
    _require(norm_bound=norm_bound)
    _require_counts(1, horizon=horizon)
    return norm_bound >= 1 and horizon > 64 * norm_bound**2


def draws_of_theorem_1(norm_bound: float, horizon: int) -> int:
    """Return the draws an event that Theorem 1's proof asks for. Told, never a default.

    m = ceil(((16 B + 1) B)^2 T log gamma) with gamma = ((16 B + 1) B T)^2. The first factor is the
    largest ||alpha||_1^2 there can be. Our source leaves gamma open; this one is the least power
    with which the corrected Hoeffding bound keeps every E_t of the run within 1 of f_t(x_t), but
    for a probability of 2 / ((16 B + 1) B). It agrees with the theorem's O(B^4 T log BT).

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
    69611741

    """
    _require_covered(norm_bound, horizon)
    return math.ceil(
        ((16 * norm_bound + 1) * norm_bound) ** 2 * horizon * _log_gamma(norm_bound, horizon)
    )


def lemma_2_bound(draws: int, step: float, t: int) -> float:
    """Bound P(|E_t - f_t(x_t)| > 8 B), so of a shrink at the wrong moment, without knowing alpha.

    Lemma 2 corrected, 4 exp(-m / (9.04 eta^2 t^2)), clipped at 1, for B >= 1; printed as
    2 exp(-m / (3 eta t)^2), which rests on the false Eq. 19. From `tail_bound` with eps = 8 B and
    ||alpha||_1 <= (16 B + 1) eta t we derive it with 2 for 4; 9.04 is 17^2 / 32 rounded up.

    Parameters
    ----------
    draws
        m, at least 0.
    step
        eta, positive; the lemma wants less than 1/8.
    t
        Number of the event, from 1.

    Raises
    ------
    ValueError
        If an argument lies outside its range; the message names it.

    Examples
    --------
    >>> round(lemma_2_bound(draws=1000, step=0.01, t=500), 4)
    0.0479

    """
    _require_counts(0, draws=draws)
    _require_counts(1, t=t)
    _require(step=step)
    return min(1.0, 4 * math.exp(-draws / (9.04 * (step * t) ** 2)))


def regret_bound(
    norm_bound: float, horizon: int, variance: float | None = None, q: float = 1.0
) -> float:
    """Bound the expected regret of f_1..f_T against every f with ||f|| <= B.

    With eta = B / sqrt(T), v the variance of E_t and losses (f(x) - y)^2 / 2, for every stream,

        E[sum of losses of f_t] - sum of losses of f
            <= (B sqrt(T) (1 + v / 2) + T r) / (1 - eta).

    r, the price of a shrink at the wrong moment, is exponentially small in B^2 q / v. This is
    Theorem 1's O(B sqrt(T)) with constants, derived in docs/theory.md, shrinking included. It is
    about f_t: a user sees E_t, whose expected loss is larger by Var[E_t] / 2 an event.

    Parameters
    ----------
    norm_bound
        B, at least 1.
    horizon
        T, more than 64 B^2.
    variance
        v, positive, kept by m_t >= q ||alpha||_1^2 / v draws on every event (see
        `draws_for_variance`; `ShrinkingGradient(variance=v)` draws them while `n_capped` is 0).
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
    _require_q(q)
    if variance is None:
        v, proxy = (1 / _log_gamma(norm_bound, horizon),) * 2
    else:
        _require(variance=variance)
        v, proxy = variance, variance / q
    eta = step_size(norm_bound, horizon)
    r = _price_of_wrong_shrinks(norm_bound, eta, proxy)
    return (norm_bound * math.sqrt(horizon) * (1 + v / 2) + horizon * r) / (1 - eta)


def tail_bound(draws: int, eps: float, alpha_l1: float, q: float | None = None) -> float:
    """Bound P(|E - f(x)| > eps) for one estimate E of Algorithm 2.

    The smaller of Hoeffding's 2 exp(-m eps^2 / (2 ||alpha||_1^2)), of Bernstein's
    2 exp(-m eps^2 / (2 ||alpha||_1^2 (q + r / 3))), r = eps / ||alpha||_1, if q is given, and of 1.
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

    Raises
    ------
    ValueError
        If an argument lies outside its range; the message names it.

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
    _require_counts(0, draws=draws)
    decay = _decay(eps, alpha_l1, q)
    if decay == math.inf:
        return 0.0
    return min(1.0, 2 * math.exp(-draws * decay))


def draws_for(eps: float, delta: float, alpha_l1: float, q: float | None = None) -> int:
    """Return the fewest draws for which `tail_bound` is at most delta.

    So |E - f(x)| <= eps with probability 1 - delta. This is the prediction part of Theorem 1, with
    the ||alpha||_1 one has in place of the largest possible, and with Eq. 19 corrected. Exact up to
    some 1e14 draws, where floating-point numbers no longer tell neighbours apart.

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
    ValueError
        If an argument lies outside its range; the message names it.
    OverflowError
        If the draws are more than a floating-point number holds.

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
        raise OverflowError(f"eps = {eps!r} is too small beside alpha_l1 = {alpha_l1!r}")
    m = math.ceil((math.log(2) - math.log(delta)) / decay)
    # Rounding may have missed the smallest by one.
    if tail_bound(m, eps, alpha_l1, q) > delta:
        m += 1
    elif m > 1 and tail_bound(m - 1, eps, alpha_l1, q) <= delta:
        m -= 1
    return m


def draws_for_variance(alpha_l1: float, variance: float, q: float) -> int:
    """Return the draws that keep the variance of E within bounds, ceil(q ||alpha||_1^2 / v).

    From Var[E] <= q ||alpha||_1^2 / m. What `ShrinkingGradient` draws when `draws` is None, before
    `min_draws` and `max_draws`. The paper has no such rule.

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
    ValueError
        If an argument lies outside its range; the message names it.
    OverflowError
        If the draws are more than a floating-point number holds.

    Examples
    --------
    >>> draws_for_variance(alpha_l1=41.0, variance=0.01, q=3 / 8)
    63038

    """
    _require(variance=variance)
    _require_not_negative(alpha_l1=alpha_l1)
    _require_q(q)
    return math.ceil(q * alpha_l1**2 / variance)


def kappa(steps: float, draws: int) -> float:
    """Return how much the noise of fixed draws feeds back: (sum of steps) / (2 sqrt(m)).

    It is the noise ||alpha||_1 / sqrt(m) that residuals of 1/2 lead to, at q = 1. Up to
    `HEALTHY_KAPPA` f_t was never harmed, from `CATASTROPHIC_KAPPA` on E_t was always worse than the
    zero predictor: measured, not proved. In between it depends on q and on the targets; there ask
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
    >>> kappa(sum_of_steps(norm_bound=1.0, t=10_000, horizon=10_000), draws=100)
    5.0

    """
    _require_not_negative(steps=steps)
    _require_counts(1, draws=draws)
    return steps / (2 * math.sqrt(draws))


def diverging(
    alpha_l1: float, q: float, draws: int, norm_bound: float, target_rms: float = 1 / 3
) -> bool:
    """Tell whether the noise of E, ||alpha||_1 sqrt(q / m), is of the order of the targets.

    That is, above min(target_rms, `SATURATED_NOISE` B). An E whose standard deviation exceeds
    target_rms has a larger mean loss than the zero predictor, whatever f_t is. The noise here is an
    upper bound of that deviation, near it for units of +-1; in measured runs with B >= 1 the two
    losses were equal at .86 to 1.13 target_rms (docs/theory.md). The second term serves a B far
    below the targets, where shrinks stop the noise before it gets there.

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
    _require(norm_bound=norm_bound, target_rms=target_rms)
    _require_not_negative(alpha_l1=alpha_l1)
    _require_q(q)
    _require_counts(0 if alpha_l1 == 0 else 1, draws=draws)
    if alpha_l1 == 0:
        return False
    return alpha_l1 * math.sqrt(q / draws) > min(target_rms, SATURATED_NOISE * norm_bound)


def _log_gamma(norm_bound: float, horizon: int) -> float:
    """Log of gamma = ((16 B + 1) B T)^2; docs/theory.md says why."""
    return 2 * math.log((16 * norm_bound + 1) * norm_bound * horizon)


def _price_of_wrong_shrinks(norm_bound: float, eta: float, proxy: float) -> float:
    """Return r of docs/theory.md: what rare errors of E_t cost in regret an event, in expectation.

    `proxy` is ||alpha||_1^2 / m, so that P(|E_t - f_t(x_t)| > z) <= 2 exp(-z^2 / (2 proxy)).
    """
    B, s = norm_bound, proxy
    lost_step = 9 * B * (17 * B + s / (8 * B)) + 0.3 * B**2 / eta
    lost_shrink = 12.25 * B**2 + 2 * s
    return 2 * math.exp(-32 * B**2 / s) * lost_step + math.exp(-6.125 * B**2 / s) * lost_shrink


def _decay(eps: float, alpha_l1: float, q: float | None) -> float:
    """Return what a draw adds to the exponent of the tail bound; infinite where E is exact."""
    _require(eps=eps)
    _require_not_negative(alpha_l1=alpha_l1)
    if alpha_l1 == 0:
        if q is not None:
            _require_q(q)
        return math.inf
    r = eps / alpha_l1
    spread = 1.0
    if q is not None:
        _require_q(q)
        spread = min(spread, q + r / 3)
    return r * r / (2 * spread)


def _inverse_roots(t: int) -> float:
    """Sum of 1 / sqrt(s) for s = 1..t."""
    if t <= _SUMMED_EXACTLY:
        return math.fsum(1 / math.sqrt(s) for s in range(1, t + 1))
    root = math.sqrt(t)
    return 2 * root + _ZETA_HALF + 1 / (2 * root) - 1 / (24 * root**3) + 1 / (384 * root**7)


def _require(**numbers: float) -> None:
    for name, value in numbers.items():
        if not 0 < value < math.inf:
            raise ValueError(f"{name} = {value!r} must be a positive, finite number")


def _require_not_negative(**numbers: float) -> None:
    for name, value in numbers.items():
        if not 0 <= value < math.inf:
            raise ValueError(f"{name} = {value!r} must be a finite number, at least 0")


def _require_q(q: float) -> None:
    if not 0 < q <= 1:
        raise ValueError(f"q = {q!r} must be positive and at most 1")


def _require_counts(least: int, **counts: int) -> None:
    for name, value in counts.items():
        if not least <= value < math.inf or value != int(value):
            raise ValueError(f"{name} = {value!r} must be a whole number, at least {least}")


def _require_covered(norm_bound: float, horizon: int) -> None:
    if theorem_1_covers(norm_bound, horizon):
        return
    if norm_bound < 1:
        raise ValueError(f"norm_bound = {norm_bound!r} must be at least 1 for Theorem 1")
    raise ValueError(
        f"horizon = {horizon!r} must exceed 64 norm_bound^2 = {64 * norm_bound**2:g} for Theorem 1"
    )
