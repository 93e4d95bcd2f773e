"""What the loop asks of whatever makes its progress durable."""

from typing import Protocol


class Checkpointing(Protocol):
    """Is told of each record once all that came of it has been handed to the outputs."""

    def passed(self, partition: int, offset: int, ended: float) -> None:
        """One record is behind us; `ended` is a recent reading of `time.perf_counter`."""
        ...

    def idle(self) -> None:
        """There is time to save."""
        ...
