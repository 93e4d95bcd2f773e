"""What Theorem 1 covers, and the limits that a run of Algorithm 1 watches."""

from iln_stream.theory._arguments import require, require_counts

LARGEST_STEP = 1.0
"""Cap of the anytime step: k(x, x) <= 1, so one step never overshoots its own target."""

SATURATED_NOISE = 2.0
"""Runs that shrank had more noise than this times B. Measured, not proved: docs/theory.md."""


def theorem_1_covers(norm_bound: float, horizon: int) -> bool:
    """Return whether B >= 1 and eta = B / sqrt(T) < 1/8, that is T > 64 B^2.

    Theorem 1 and Lemma 2 require this. They also require of a run: targets in [-1, 1],
    |psi| <= 1, all support points kept, and enough draws.

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
    require(norm_bound=norm_bound)
    require_counts(1, horizon=horizon)
    return norm_bound >= 1 and horizon > 64 * norm_bound**2
