"""Everything known about a run before it begins."""

from typing import NamedTuple

from iln_stream.theory.noise import kappa
from iln_stream.theory.steps import step_size, sum_of_steps
from iln_stream.theory.theorem_1 import draws_of_theorem_1, regret_bound


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
        proof requires: it is not proved then.
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
