"""Records a run, event by event."""

from itertools import accumulate

from iln_stream.learners import ShrinkingGradient
from iln_stream.prequential import Listener, Step


class Trajectory(Listener):
    """Records the error of each step and, for Algorithm 1, ||alpha||_1 and the shrinks."""

    def __init__(self, algorithm_1: ShrinkingGradient | None = None) -> None:
        self._algorithm_1 = algorithm_1
        self.absolute_errors: list[float] = []
        self.alpha_l1: list[float] = []
        self.shrinks: list[int] = []
        self.seconds = 0.0

    def on_step(self, step: Step) -> None:
        """Record the step."""
        if step.y is None:
            return
        if "shrunk" in step.flags:
            self.shrinks.append(len(self.absolute_errors))
        self.absolute_errors.append(abs(step.y_pred - step.y))
        self.seconds += step.seconds
        if self._algorithm_1 is not None:
            self.alpha_l1.append(self._algorithm_1.alpha_l1)

    @property
    def mae(self) -> float:
        """Mean absolute error, in y's units."""
        return sum(self.absolute_errors) / len(self.absolute_errors)

    @property
    def events_per_second(self) -> float:
        """Events predicted and learned per second."""
        return len(self.absolute_errors) / self.seconds

    @property
    def running_loss(self) -> list[float]:
        """Mean of (prediction - y)^2 / 2 up to each event, from the second on.

        The first prediction is uninformed; its error would dominate all later means.
        """
        totals = accumulate(error * error / 2 for error in self.absolute_errors[1:])
        return [total / n for n, total in enumerate(totals, start=1)]
