"""Logs when a source loses its broker and when it reconnects."""

import logging
from time import monotonic, perf_counter

from iln_stream.events import Command, DeadLetter
from iln_stream.prequential import Listener, Step
from iln_stream.streams import LogPartitions, Source

log = logging.getLogger(__name__)

_SECONDS = 1.0
"""From one check of a connected source to the next while the loop is busy."""


class ConnectionLog(Listener):
    """Logs one line when the source disconnects, and one when it reconnects.

    It checks when the loop is idle and, as other partitions may keep the loop busy, once a second.
    While the source is disconnected, it checks at each record.

    Parameters
    ----------
    source
        The source to watch, or some of its partitions.
    description
        What the source connects to, such as "the broker at HOST".

    """

    def __init__(self, source: Source | LogPartitions, description: str) -> None:
        self._source = source
        self._description = description
        self._disconnected_since: float | None = None
        self._due = perf_counter() + _SECONDS

    def on_step(self, step: Step) -> None:
        """Check whether the source has reconnected or, once a second, whether it is connected."""
        if step.ended >= self._due or self._disconnected_since is not None:
            self._due = step.ended + _SECONDS
            self._check()

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """Check whether the source has reconnected."""
        if self._disconnected_since is not None:
            self._check()

    def on_repeat(self, partition: int, offset: int) -> None:
        """Check whether the source has reconnected."""
        if self._disconnected_since is not None:
            self._check()

    def on_command(self, command: Command) -> None:
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
            log.warning(
                "%s is unreachable; waiting (the broker does not answer, or the topic was deleted)",
                self._description,
            )
        elif self._disconnected_since is not None and connected:
            log.warning(
                "%s is reachable again after %.1f s",
                self._description,
                monotonic() - self._disconnected_since,
            )
            self._disconnected_since = None
