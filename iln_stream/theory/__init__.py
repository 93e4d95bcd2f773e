r"""Known results about Algorithms 1 and 2, as numbers: steps, draws, error and regret bounds.

The paper is R. Livni, D. Carmon, A. Globerson, *Learning Infinite Layer Networks Without the
Kernel Trick*, ICML 2017. Where a printed formula is wrong, the corrected form is computed and the
docstring says so. docs/theory.md gives the derivations that the paper lacks, and distinguishes
proved from measured results.

Symbols: B the norm bound, T the horizon, eta the step, m the draws of one estimate,
||alpha||_1 the sum of |alpha_i|, q in (0, 1] a family's bound on E[psi^2 psi'^2]. Targets lie in
[-1, 1] and are dimensionless, so all quantities here are. All functions are pure.
"""

from iln_stream.theory.covered import LARGEST_STEP, SATURATED_NOISE, theorem_1_covers
from iln_stream.theory.noise import (
    CATASTROPHIC_KAPPA,
    HEALTHY_KAPPA,
    diverging,
    kappa,
)
from iln_stream.theory.one_estimate import draws_for, draws_for_variance, tail_bound
from iln_stream.theory.plans import Plan, plan
from iln_stream.theory.steps import anytime_step, step_size, sum_of_steps
from iln_stream.theory.theorem_1 import (
    draws_of_theorem_1,
    lemma_2_bound,
    regret_bound,
)

__all__ = [
    "CATASTROPHIC_KAPPA",
    "HEALTHY_KAPPA",
    "LARGEST_STEP",
    "SATURATED_NOISE",
    "Plan",
    "anytime_step",
    "diverging",
    "draws_for",
    "draws_for_variance",
    "draws_of_theorem_1",
    "kappa",
    "lemma_2_bound",
    "plan",
    "regret_bound",
    "step_size",
    "sum_of_steps",
    "tail_bound",
    "theorem_1_covers",
]
