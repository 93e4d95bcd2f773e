"""The listener that says when a source loses its broker, and when it has it again."""

import logging
from time import monotonic

from iln_stream.events import DeadLetter
from iln_stream.prequential import Listener, Step
from iln_stream.streams import Source

log = logging.getLogger(__name__)


class ConnectionLog(Listener):
    """Logs one sentence when the source is cut off, and one when it no longer is.

    A source that is cut off has no records, so only an idle loop looks for it; what costs something
    at each event is done only while the source is away.

    Parameters
    ----------
    source
        What may be cut off.
    description
        What from, as "the broker at HOST".

    """

    def __init__(self, source: Source, description: str) -> None:
        self._source = source
        self._description = description
        self._away_since: float | None = None

    def on_step(self, step: Step) -> None:
        """A record came: the source may be back."""
        if self._away_since is not None:
            self._look()

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """A record came: the source may be back."""
        if self._away_since is not None:
            self._look()

    def on_repeat(self, partition: int, offset: int) -> None:
        """A record came: the source may be back."""
        if self._away_since is not None:
            self._look()

    def on_idle(self) -> None:
        """Nothing came: the source may be away."""
        self._look()

    def _look(self) -> None:
        connected = self._source.connected
        if self._away_since is None and not connected:
            self._away_since = monotonic()
            log.warning("%s is away; waiting", self._description)
        elif self._away_since is not None and connected:
            log.warning(
                "%s is back after %.1f s", self._description, monotonic() - self._away_since
            )
            self._away_since = None
