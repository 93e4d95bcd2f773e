"""How far a run is: one line in a terminal, lines of the log elsewhere, and on /ready."""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from iln_stream.loop.metrics import ModelMetrics
from iln_stream.loop.step import MOST_IN_A_ROW, Listener, Step
from iln_stream.records import DeadLetter
from iln_stream.reporting import MetricSpec
from iln_stream.streams import StreamPartition

log = logging.getLogger(__name__)

_REFRESH_SECONDS = 0.2
_RATE_SECONDS = {True: 10.0, False: 60.0}
"""Over which a rate is measured, at a terminal or in the log: not over idle hours before."""


class Line:
    """A line that is rewritten at a terminal, and vanishes at the end; elsewhere it is logged.

    With a `total`, which `show` counts up to, there is a bar; a line is logged every 30 seconds.
    """

    def __init__(self, console: Console | None, total: int | None = None) -> None:
        self.is_drawn = console is not None and console.is_terminal
        self._seconds = _REFRESH_SECONDS if self.is_drawn else 30.0
        ends = (BarColumn(None), TaskProgressColumn(), TimeRemainingColumn()) if total else ()
        self._bar = Bar(
            TextColumn("{task.description}", markup=False),
            *ends,
            console=console,
            disable=not self.is_drawn,
            expand=True,
            transient=True,
            auto_refresh=False,
        )
        self._task = self._bar.add_task("", total=total)
        self._due: float | None = None

    def show(self, done: int, text: Callable[[], str]) -> None:
        """Show the text if it is time to."""
        now = monotonic()
        if self._due is None:
            self._due = now + self._seconds
        if now >= self._due:
            self._due = now + self._seconds
            if self.is_drawn:
                self._bar.update(self._task, completed=done, description=text())
                self._bar.start()
                self._bar.refresh()
            else:
                log.info(f"{text()}")  # not a template, of which the log drops repeats

    def close(self) -> None:
        """Take it away."""
        self._bar.stop()


class Progress(Listener):
    """Shows the number of events, their rate, the latest errors and those of a trivial predictor.

    It is drawn at a terminal, and logged elsewhere. `title` says what is learned, if it is not the
    stream of the run. With `logs_letters`, each dead letter is logged, as nothing else keeps it.
    """

    most_steps = MOST_IN_A_ROW

    def __init__(
        self,
        watched: ModelMetrics,
        console: Console | None,
        total: int | None = None,
        title: str = "",
        *,
        logs_letters: bool = False,
    ) -> None:
        self._watched = watched
        self._title = title
        self._logs_letters = logs_letters
        self._line = Line(console, total)
        self._n = 0
        self._was_behind = True
        # Of the last seconds at a terminal, else since the line before.
        self._before: deque[tuple[float, int]] = deque(maxlen=50 if self._line.is_drawn else 2)

    def on_step(self, step: Step) -> None:
        """Count the event."""
        self._show(not step.late)

    def on_steps(self, steps: Sequence[Step]) -> None:
        """Count the events, of which no label is late."""
        self._show(len(steps))

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """Count it; log where it is, and the reason."""
        if self._logs_letters:
            log.warning(
                "%s: record %d can't be learned: %s", self._title, letter.offset, letter.reason
            )
        self._show(1)

    def on_repeat(self, origin: StreamPartition, offset: int) -> None:
        """Count the record."""
        self._show(1)

    def on_idle(self) -> None:
        """Log, once, that all that was in the log has been learned."""
        if self._was_behind and self._watched.lag == 0:
            self._was_behind = False
            log.info(f"up to date: {self._text()}")

    def close(self) -> None:
        """Take the line away."""
        self._line.close()

    def _show(self, n: int) -> None:
        self._n += n
        if not self._before:
            self._before.append((monotonic(), self._n))
        self._line.show(self._n, self._text)

    def _text(self) -> str:
        watched, now = self._watched, monotonic()
        while self._before and now - self._before[0][0] > _RATE_SECONDS[self._line.is_drawn]:
            self._before.popleft()
        self._before.append((now, self._n))
        began, n = self._before[0]
        rate = f"{(self._n - n) / (now - began):,.0f}/s, " if self._n > n else ""
        letters = f", {watched.n_dead_letters:,} dead letters" if watched.n_dead_letters else ""
        return (
            f"{self._title}{': ' if self._title else ''}{watched.scores.n_events:,} events, "
            f"{rate}{watched.summary(recent=True)}{letters}"
        )


class _Past(Listener):
    """Counts learned events of the past, while another thread reads the count."""

    most_steps = MOST_IN_A_ROW
    _beginning: str
    _part: str  # what is learned now: gets a name, and its number

    def __init__(self, n: int) -> None:
        self._n = n
        self._n_begun = 0
        self._name = ""
        self.n_events = 0

    @property
    def state(self) -> str:
        """What the run is doing, in one line."""
        if not self._n_begun:
            return self._beginning
        part = self._part.format(self._name, self._n_begun)
        return f"{part} of {self._n}; {self.n_events:,} events so far"

    def begin(self, name: str) -> None:
        self._name = name
        self._n_begun += 1

    def on_step(self, step: Step) -> None:
        """Count the event; a late label is none."""
        self.n_events += not step.late


class HistoryProgress(_Past):
    """Counts the events of files of history, while another thread reads the count.

    Examples
    --------
    >>> from iln_stream.loop.progress import HistoryProgress
    >>> progress = HistoryProgress(2)
    >>> progress.begin("january.csv")
    >>> progress.state
    'learning the history: january.csv, file 1 of 2; 0 events so far'

    """

    _beginning = "learning the history: preparing the learner and the files"
    _part = "learning the history: {}, file {}"

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


class WarmUpProgress(_Past):
    """Counts the events that each of n challengers learns, while another thread reads the count.

    Examples
    --------
    >>> from iln_stream.loop.progress import WarmUpProgress
    >>> progress = WarmUpProgress(2)
    >>> progress.begin("linear")
    >>> progress.state
    'warming up challenger linear, 1 of 2; 0 events so far'

    """

    _beginning = "warming up new challengers: preparing them"
    _part = "warming up challenger {}, {}"

    def begin(self, name: str) -> None:
        """Note that the next challenger begins."""
        super().begin(name)
        self.n_events = 0
