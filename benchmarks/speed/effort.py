"""Sizes of a full run and of a quick one."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """Sizes for all sections.

    Parameters
    ----------
    rounds
        How often each thing is timed; medians are of so many.
    block
        About how many seconds each timing takes.
    supports, widths, draws
        n, d and m of the cells.
    growth
        Numbers of support points over which the cost of an event is followed.
    events
        Length of the stream that learners are compared on.
    patience
        Seconds after which a slow learner stops.
    rebuilt
        Support points at which rebuilds and compressions are looked for.
    replicates
        Independent seeds and points behind a variance.
    starts
        Fresh processes behind a start's time.

    """

    rounds: int = 7
    block: float = 0.02
    supports: tuple[int, ...] = (1_000, 100_000)
    widths: tuple[int, ...] = (5, 20, 100)
    draws: tuple[int, ...] = (100, 1_000, 10_000)
    growth: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000)
    events: int = 20_000
    patience: float = 20.0
    rebuilt: int = 100_000
    replicates: int = 24
    starts: int = 5


QUICK = Effort(
    rounds=3,
    block=0.004,
    supports=(1_000,),
    draws=(100, 1_000),
    growth=(1_000, 10_000),
    events=2_000,
    patience=1.0,
    rebuilt=5_000,
    replicates=6,
    starts=1,
)
"""A minute or two, to check that everything works."""
