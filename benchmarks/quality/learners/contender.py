"""A learner of the suite: its id, factory and description."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from river import base

Family = Literal["ours", "paper", "online", "batch"]
Task = Literal["regression", "classification"]


@dataclass(frozen=True)
class Contender:
    """A learner of the suite, as a River estimator.

    Parameters
    ----------
    id
        Its permanent name in stored results.
    title
        Its name in tables.
    family
        "ours" is what we ship as accurate, "paper" is Algorithm 1 as we ship it, "online" and
        "batch" (refitted now and then on all that came before) are the peers.
    make
        From a seed to a new learner. Raises `UnavailableError` where something is not installed.
    settings
        What differs from the defaults of its package.
    packages
        Those whose versions are stored with its results.
    seeds
        Each is run; the median counts.

    """

    id: str
    title: str
    family: Family
    make: Callable[[int], base.Estimator]
    settings: str = "defaults"
    packages: tuple[str, ...] = ("river",)
    seeds: tuple[int, ...] = (1,)
    task: Task = "regression"
