"""The loop's interface to checkpoints."""

from typing import Protocol


class Checkpointing(Protocol):
    """Makes the loop's progress durable."""

    def passed(self, partition: int, offset: int, ended: float) -> None:
        """Note that a record was processed and that the outputs have its results.

        `ended` is a recent value of `time.perf_counter`.
        """
        ...

    def idle(self) -> None:
        """Save what is due; the loop has nothing else to do."""
        ...
