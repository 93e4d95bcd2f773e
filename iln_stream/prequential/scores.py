"""Running scores of a stream of steps."""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

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


class _Totals(NamedTuple):
    """Sums and the counts they are of; replaced whole, so that no thread sees one without it."""

    n_events: int = 0
    n_labelled: int = 0
    total_loss: float = 0.0
    total_absolute_error: float = 0.0


_WINDOWS = ("window_loss", "window_absolute_error", "window_shrunk")


class Scores:
    """Means over all labelled events since the model's birth, and over the last `window` of them.

    Updated by one thread at a time, and safe to read from any other: a mean is always one of whole
    steps, but two numbers read one after the other may have steps between them.
    """

    def __init__(self, window: int = 1000) -> None:
        if window < 1:
            raise ValueError(f"window = {window} must be at least 1 event")
        self._totals = _Totals()
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
        before = self._totals
        self._totals = _Totals(
            before.n_events + len(steps),
            before.n_labelled + len(losses),
            _plus(before.total_loss, losses),
            _plus(before.total_absolute_error, absolute_errors),
        )
        self.window_loss.extend(losses)
        self.window_absolute_error.extend(absolute_errors)
        self.window_shrunk.extend(shrunk)

    @property
    def n_events(self) -> int:
        """How many events there were, labelled or not."""
        return self._totals.n_events

    @property
    def n_labelled(self) -> int:
        """How many of them had a label."""
        return self._totals.n_labelled

    @property
    def running_loss(self) -> float:
        """Mean loss of all labelled events; nan before the first."""
        totals = self._totals
        return totals.total_loss / totals.n_labelled if totals.n_labelled else float("nan")

    @property
    def running_mae(self) -> float:
        """Mean absolute error of all labelled events, in y's units; nan before the first."""
        totals = self._totals
        if not totals.n_labelled:
            return float("nan")
        return totals.total_absolute_error / totals.n_labelled

    def state(self) -> Tree:
        """Return the scores as plain values."""
        windows = {name: getattr(self, name).values() for name in _WINDOWS}
        return {**self._totals._asdict(), **windows}

    def restore(self, state: Tree) -> None:
        """Go on from a `state()`, whose windows may have been longer or shorter."""
        self._totals = _Totals(*(state[name] for name in _Totals._fields))
        for name in _WINDOWS:
            window: Window = getattr(self, name)
            window.extend(state[name])


def _plus(total: float, values: Sequence[float]) -> float:
    """Add one after the other: `sum` rounds by how many come at once, from Python 3.12 on."""
    for value in values:
        total += value
    return total
