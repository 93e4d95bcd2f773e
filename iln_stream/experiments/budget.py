"""What a method spent."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from time import process_time


@dataclass
class Budget:
    """Counts of what methods are compared by.

    Parameters
    ----------
    psi
        Evaluations of hidden units, psi(x; w).
    draws
        Draws of w from mu.
    kernels
        Evaluations of a kernel.
    seconds
        CPU time, so that other processes do not count.

    Examples
    --------
    >>> from iln_stream.experiments.budget import Budget
    >>> budget = Budget()
    >>> with budget.timed():
    ...     budget.psi += 100
    >>> budget.psi, budget.seconds > 0
    (100, True)

    """

    psi: int = 0
    draws: int = 0
    kernels: int = 0
    seconds: float = 0.0

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Add the CPU time of the block, also if it raises an error."""
        start = process_time()
        try:
            yield
        finally:
            self.seconds += process_time() - start

    def figures(self) -> dict[str, float]:
        """Return the counts by name."""
        return asdict(self)
