"""How far a run is: a bar in a terminal, lines of the log, and on /ready."""

import logging
from collections.abc import Sequence
from time import monotonic, perf_counter

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

from iln_stream.loop.step import Listener, Step
from iln_stream.loop.task import Regression, Task
from iln_stream.records import DeadLetter
from iln_stream.reporting import MetricSpec

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


log = logging.getLogger(__name__)


class LoggedProgress(Listener):
    """Logs the number of events from time to time, and each dead letter with its reason.

    Parameters
    ----------
    name
        Name of the stream in messages.
    seconds
        From one line to the next.

    """

    def __init__(self, name: str, seconds: float = 10.0) -> None:
        self._name = name
        self._seconds = seconds
        self._due = perf_counter() + seconds
        self._n = 0

    def on_step(self, step: Step) -> None:
        """Count the event."""
        self._n += 1
        if step.ended >= self._due:
            log.info(f"{self._name}: {self._n:,} events so far")  # no line repeats another
            self._due = step.ended + self._seconds

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """Log where it is, and the reason."""
        log.warning("%s: record %d can't be learned: %s", self._name, letter.offset, letter.reason)


class HistoryProgress(Listener):
    """Counts the events of files of history, while another thread reads the count.

    Parameters
    ----------
    n_files
        Number of files.

    Examples
    --------
    >>> from iln_stream.loop.progress import HistoryProgress
    >>> progress = HistoryProgress(n_files=2)
    >>> progress.begin("january.csv")
    >>> progress.state
    'learning the history: january.csv, file 1 of 2; 0 events so far'

    """

    def __init__(self, n_files: int) -> None:
        self._n_files = n_files
        self._n_begun = 0
        self._name = ""
        self.n_events = 0

    @property
    def state(self) -> str:
        """What the run is doing, in one line."""
        if not self._n_begun:
            return "learning the history: preparing the learner and the files"
        return (
            f"learning the history: {self._name}, file {self._n_begun} of {self._n_files}; "
            f"{self.n_events:,} events so far"
        )

    def begin(self, name: str) -> None:
        """Note that the next file begins."""
        self._name = name
        self._n_begun += 1

    def on_step(self, step: Step) -> None:
        """Count the event; a late label is none."""
        self.n_events += not step.late

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the count."""
        return (
            MetricSpec(
                "iln_history_events_total",
                "counter",
                "Events of history files that this run has predicted and learned.",
                lambda: self.n_events,
                of_process=True,
            ),
        )


class WarmUpProgress(Listener):
    """Counts the events that challengers learn, while another thread reads the count.

    Parameters
    ----------
    n_challengers
        Number of challengers that learn.

    Examples
    --------
    >>> from iln_stream.loop.progress import WarmUpProgress
    >>> progress = WarmUpProgress(n_challengers=2)
    >>> progress.begin("linear")
    >>> progress.state
    'warming up challenger linear, 1 of 2; 0 events so far'

    """

    def __init__(self, n_challengers: int) -> None:
        self._n_challengers = n_challengers
        self._n_begun = 0
        self._name = ""
        self.n_events = 0

    @property
    def state(self) -> str:
        """What the run is doing, in one line."""
        if not self._n_begun:
            return "warming up new challengers: preparing them"
        return (
            f"warming up challenger {self._name}, {self._n_begun} of {self._n_challengers}; "
            f"{self.n_events:,} events so far"
        )

    def begin(self, name: str) -> None:
        """Note that the next challenger begins."""
        self._name, self.n_events = name, 0
        self._n_begun += 1

    def on_step(self, step: Step) -> None:
        """Count the event; a late label is none."""
        self.n_events += not step.late
