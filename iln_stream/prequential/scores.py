"""Running scores of a stream of steps."""

from collections import deque
from collections.abc import Sequence

from iln_stream.prequential.step import Step
from iln_stream.state import Tree


class Window:
    """The last `size` values of a series."""

    def __init__(self, size: int) -> None:
        self._values: deque[float] = deque(maxlen=size)
        self.extend = self._values.extend
        """Let values in; the oldest leave when the window is full."""

    @property
    def mean(self) -> float:
        """Mean of the values in the window, nan when it is empty.

        Summed afresh at each call: running sums would collect rounding errors for ever.
        """
        values = self.values()
        return sum(values) / len(values) if values else float("nan")

    def values(self) -> list[float]:
        """Return the values in the window, oldest first. Safe while another thread extends."""
        return list(self._values)


_TOTALS = ("n_events", "n_labelled", "total_loss", "total_absolute_error")
_WINDOWS = ("window_loss", "window_absolute_error", "window_shrunk")


class Scores:
    """Means over all labelled events since the model's birth, and over the last `window` of them.

    Plain attributes, updated by the loop's thread and safe to read from any other.
    """

    def __init__(self, window: int = 1000) -> None:
        if window < 1:
            raise ValueError(f"window = {window} must be at least 1 event")
        self.n_events = 0
        self.n_labelled = 0
        self.total_loss = 0.0
        self.total_absolute_error = 0.0
        self.window_loss = Window(window)
        self.window_absolute_error = Window(window)
        self.window_shrunk = Window(window)

    def update(self, steps: Sequence[Step]) -> None:
        """Let steps count. Many at once cost less, and come to the same."""
        losses, absolute_errors, shrunk = [], [], []
        for step in steps:
            if step.y is not None and step.loss is not None:
                losses.append(step.loss)
                absolute_errors.append(abs(step.y_pred - step.y))
                shrunk.append(step.shrunk)
        total_loss = _plus(self.total_loss, losses)
        total_absolute_error = _plus(self.total_absolute_error, absolute_errors)
        n_events, n_labelled = self.n_events + len(steps), self.n_labelled + len(losses)
        # At one go, so that another thread sees no total without its count.
        self.n_events, self.n_labelled = n_events, n_labelled
        self.total_loss, self.total_absolute_error = total_loss, total_absolute_error
        self.window_loss.extend(losses)
        self.window_absolute_error.extend(absolute_errors)
        self.window_shrunk.extend(shrunk)

    @property
    def running_loss(self) -> float:
        """Mean loss of all labelled events; nan before the first."""
        return self.total_loss / self.n_labelled if self.n_labelled else float("nan")

    @property
    def running_mae(self) -> float:
        """Mean absolute error of all labelled events, in y's units; nan before the first."""
        return self.total_absolute_error / self.n_labelled if self.n_labelled else float("nan")

    def state(self) -> Tree:
        """Return the scores as plain values."""
        windows = {name: getattr(self, name).values() for name in _WINDOWS}
        return {**{name: getattr(self, name) for name in _TOTALS}, **windows}

    def restore(self, state: Tree) -> None:
        """Go on from a `state()`, whose windows may have been longer or shorter."""
        for name in _TOTALS:
            setattr(self, name, state[name])
        for name in _WINDOWS:
            window: Window = getattr(self, name)
            window.extend(state[name])


def _plus(total: float, values: Sequence[float]) -> float:
    """Add one after the other: `sum` rounds by how many come at once, from Python 3.12 on."""
    for value in values:
        total += value
    return total
