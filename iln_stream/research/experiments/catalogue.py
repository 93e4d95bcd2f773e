"""The experiments by name."""

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from iln_stream.errors import IlnError
from iln_stream.research.experiments.result import Result

QUICK_SEEDS = 2
"""Seeds of a quick run, if not given."""


class Experiment(NamedTuple):
    """What `iln-stream experiment` lists."""

    about: str  # what it measures, in a line
    seeds: int  # seeds of a full run, if not given


EXPERIMENTS = {
    "concentration": Experiment("errors of EST_SCALAR_PROD against Eq. 19 and its correction", 3),
    "corollary1": Experiment("risk of f_S against T and B, beside Section 4's rivals; shrinks", 3),
    "fast_rates": Experiment("exponents of random-feature ridge under capacity and regularity", 24),
    "feature_budget": Experiment("loss at equal psi evaluations, draws and time, by estimator", 3),
    "figure1": Experiment("Section 6: three learners with a budget of random features", 24),
    "kernel_entries": Experiment("Section 7: regret against the entries of the kernel seen", 3),
    "kernels": Experiment("largest error of each feature map's kernel as M grows", 10),
    "kitchen_sinks": Experiment("error and time of kitchen sinks beside AdaBoost, on adult", 5),
    "learning_mu": Experiment("units with mu fixed, redrawn and moved by gradients", 4),
    "pegasos": Experiment("test error against time of Pegasos and its budgeted forms, on adult", 5),
    "pegasos_objective": Experiment("Pegasos' objective by batch size and order, on adult", 3),
    "regret": Experiment("regret against the best f in the ball as T grows, and its exponent", 5),
    "semi_random": Experiment("error against units of random, semi-random and trained ones", 3),
}
"""Each is the module of that name in this folder, which has `run(full, seeds, progress)`."""


def run_experiment(
    name: str, full: bool, seeds: int | None, progress: Callable[[str], None]
) -> Result:
    """Run an experiment.

    Parameters
    ----------
    name
        One of `EXPERIMENTS`.
    full
        Whether to take the minutes of the run to cite, or the seconds of a quick one.
    seeds
        Number of repetitions with other random numbers. None: those of `EXPERIMENTS` in a full run,
        `QUICK_SEEDS` in a quick one.
    progress
        Gets a line for each part.

    Raises
    ------
    IlnError
        When the name is unknown.

    """
    if name not in EXPERIMENTS:
        raise IlnError(f"experiment {name!r} must be one of {', '.join(EXPERIMENTS)}")
    if seeds is None:
        seeds = EXPERIMENTS[name].seeds if full else QUICK_SEEDS
    module = import_module(f"{__package__}.{name}")
    result: Result = module.run(full, seeds, progress)
    return result
