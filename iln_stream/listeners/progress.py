"""A progress bar in a terminal; nothing elsewhere."""

from time import monotonic

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import (
    Progress as Bar,
)

from iln_stream.events import DeadLetter
from iln_stream.prequential import Listener, Regression, Step, Task

_REFRESH_SECONDS = 0.2


class Progress(Listener):
    """Shows the number of events, their windowed error and dead letters.

    Parameters
    ----------
    title
        Name of the stream.
    total
        Number of events; None: unknown.
    console
        Draws the bar if it is a terminal.
    task
        Scores the steps; default: regression.

    """

    def __init__(
        self, title: str, total: int | None, console: Console, task: Task | None = None
    ) -> None:
        self._scores = (task or Regression()).scores(window=500)
        self._n_dead_letters = 0
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TaskProgressColumn(show_speed=True),
            TimeElapsedColumn(),
            TextColumn("{task.fields[state]}"),
            console=console,
            disable=not console.is_terminal,
            refresh_per_second=1 / _REFRESH_SECONDS,
        )
        self._task = self._bar.add_task(title, total=total, state="")
        self._next_draw = 0.0

    def on_step(self, step: Step) -> None:
        """Update the bar."""
        self._scores.update([step])
        self._draw()

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """Count the dead letter."""
        self._n_dead_letters += 1
        self._draw()

    def close(self) -> None:
        """Draw the final state, and leave it on the screen."""
        self._draw(at_once=True)
        if not self._bar.disable:
            self._bar.stop()

    def _draw(self, at_once: bool = False) -> None:
        if self._bar.disable:
            return
        now = monotonic()
        if not at_once and now < self._next_draw:
            return
        if not self._next_draw:
            self._bar.start()
        self._next_draw = now + _REFRESH_SECONDS
        state = f"last 500: {self._scores.recent()}"
        if self._n_dead_letters:
            state += f", {self._n_dead_letters} dead letters"
        done = self._scores.n_events + self._n_dead_letters
        self._bar.update(self._task, completed=done, state=state)
