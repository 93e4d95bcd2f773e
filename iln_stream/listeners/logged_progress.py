"""Progress as lines of the log."""

import logging
from time import perf_counter

from iln_stream.events import DeadLetter
from iln_stream.prequential import Listener, Step

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
