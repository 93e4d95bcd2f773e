"""Whether events come in the order of their times."""

import logging

from iln_stream.errors import RefusedError
from iln_stream.prequential import Listener, Step

log = logging.getLogger(__name__)

_FEWEST, _SHARE = 20, 0.9


class EventOrder(Listener):
    """Counts events that are older than the event before, and warns of the first one.

    Parameters
    ----------
    name
        Name of the stream in messages.

    Attributes
    ----------
    n_older : int
        Number of events that are older than the event before.
    first, last : float or None
        Smallest and greatest time of an event, in POSIX seconds; None: no event has a time.

    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.n_older = 0
        self.first: float | None = None
        self.last: float | None = None
        self._n = 0
        self._before: float | None = None

    def on_step(self, step: Step) -> None:
        """Compare the event's time with that of the event before.

        Raises
        ------
        RefusedError
            When the stream runs backwards: at least 20 events, and more than 90 % of all, are older
            than the event before.

        """
        time = step.time
        if time is None or step.late:
            return
        self._n += 1
        if self.first is None or self.last is None:
            self.first = self.last = time
        self.first, self.last = min(self.first, time), max(self.last, time)
        if self._before is not None and time < self._before:
            self._older(step.offset)
        self._before = time

    def _older(self, offset: int) -> None:
        self.n_older += 1
        if self.n_older == 1:
            log.warning(
                f"{self.name}: record {offset} is older than the record before; events are learned "
                "in the order in which they stand"
            )
        if self.n_older >= _FEWEST and self.n_older > _SHARE * self._n:
            raise RefusedError(
                f"{self.name}: {self.n_older} of the first {self._n} events are older than the "
                "event before: sort the file by time, oldest first"
            )
