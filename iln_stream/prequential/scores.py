"""Running scores of a stream of steps."""

from collections import deque

from iln_stream.prequential.step import Step
from iln_stream.state import Tree


class Window:
    """The last `size` values of a series."""

    def __init__(self, size: int) -> None:
        self._values: deque[float] = deque(maxlen=size)
        self.append = self._values.append
        """Let a value in; the oldest leaves when the window is full."""

    @property
    def mean(self) -> float:
        """Mean of the values in the window, nan when it is empty.

        Summed afresh at each call: running sums would collect rounding errors for ever.
        """
        values = self.values()
        return sum(values) / len(values) if values else float("nan")

    def values(self) -> list[float]:
        """Return the values in the window, oldest first. Safe while another thread appends."""
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

    def update(self, step: Step) -> None:
        """Let a step count."""
        self.n_events += 1
        if step.y is None or step.loss is None:
            return
        absolute_error = abs(step.y_pred - step.y)
        self.n_labelled += 1
        self.total_loss += step.loss
        self.total_absolute_error += absolute_error
        self.window_loss.append(step.loss)
        self.window_absolute_error.append(absolute_error)
        self.window_shrunk.append(step.shrunk)

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
            for value in state[name]:
                window.append(value)
