"""Logs when a source loses its broker and when it reconnects."""

import logging
from time import monotonic

from iln_stream.events import DeadLetter
from iln_stream.prequential import Listener, Step
from iln_stream.streams import Source

log = logging.getLogger(__name__)


class ConnectionLog(Listener):
    """Logs one line when the source disconnects, and one when it reconnects.

    A disconnected source delivers no records, so this listener checks a connected source only when
    the loop is idle. While the source is disconnected, it also checks at each record.

    Parameters
    ----------
    source
        The source to watch.
    description
        What the source connects to, such as "the broker at HOST".

    """

    def __init__(self, source: Source, description: str) -> None:
        self._source = source
        self._description = description
        self._disconnected_since: float | None = None

    def on_step(self, step: Step) -> None:
        """Check whether the source has reconnected."""
        if self._disconnected_since is not None:
            self._check()

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """Check whether the source has reconnected."""
        if self._disconnected_since is not None:
            self._check()

    def on_repeat(self, partition: int, offset: int) -> None:
        """Check whether the source has reconnected."""
        if self._disconnected_since is not None:
            self._check()

    def on_idle(self) -> None:
        """Check whether the source has disconnected or reconnected."""
        self._check()

    def _check(self) -> None:
        connected = self._source.connected
        if self._disconnected_since is None and not connected:
            self._disconnected_since = monotonic()
            log.warning("%s is unreachable; waiting", self._description)
        elif self._disconnected_since is not None and connected:
            log.warning(
                "%s is reachable again after %.1f s",
                self._description,
                monotonic() - self._disconnected_since,
            )
            self._disconnected_since = None
