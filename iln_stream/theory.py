"""Kept for code of 0.2: the paper's bounds and step sizes as formulas."""

from iln_stream.learners.draws import (
    LARGEST_STEP,
    SATURATED_NOISE,
    draws_for,
    draws_for_variance,
    tail_bound,
    theorem_1_covers,
)
from iln_stream.research.theory import (
    CATASTROPHIC_KAPPA,
    HEALTHY_KAPPA,
    Plan,
    anytime_step,
    diverging,
    draws_of_theorem_1,
    kappa,
    lemma_2_bound,
    plan,
    regret_bound,
    step_size,
    sum_of_steps,
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
