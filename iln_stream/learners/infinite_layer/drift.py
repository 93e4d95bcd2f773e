"""A signal of drift."""

from iln_stream.learners.infinite_layer.part import Part

FAST, SLOW = 50, 1000
LARGEST_ERROR = 2.0


class Drift(Part):
    """Mean |error| of about the last 50 events over that of about the last 1000.

    Errors are in units of the target's scale, so a change of that scale alone is none. About 1
    while the stream is steady; above 1.5 as a rule only after a change.
    """

    kept = ("fast", "slow", "n")

    def __init__(self) -> None:
        self.fast = 0.0
        self.slow = 0.0
        self.n = 0

    @property
    def signal(self) -> float:
        """The ratio; 1 before the first event."""
        return self.fast / self.slow if self.slow > 0.0 else 1.0

    def learn(self, error: float) -> None:
        """Let |error|, in units of the target's scale, join both means."""
        error = min(error, LARGEST_ERROR)
        self.n += 1
        self.fast += (error - self.fast) / min(self.n, FAST)
        self.slow += (error - self.slow) / min(self.n, SLOW)
