"""What the loop logs: the champion, and lost brokers."""

import logging
from time import monotonic, perf_counter
from typing import Any

from iln_stream.loop.step import MOST_IN_A_ROW, Listener, Step
from iln_stream.streams import PartitionedLog, Source

log = logging.getLogger(__name__)


class ChampionLog(Listener):
    """Logs one line when another contender has become champion, by command or by evidence."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._champion: str | None = None

    def on_step(self, step: Step) -> None:
        """Compare the contender that predicted with the one before."""
        champion = step.details.contender
        if champion == self._champion or step.late:
            return
        if self._champion is not None:
            log.info(
                "%s: %s is the champion from offset %d of %s on; before it was %s",
                self._model, champion, step.offset, step.origin, self._champion,
            )  # fmt: skip
        self._champion = champion


_SECONDS = 1.0
"""From one check of a connected source to the next while the loop is busy."""


class ConnectionLog(Listener):
    """Logs one line when the source disconnects, and one when it reconnects.

    It checks when the loop is idle and, as other partitions may keep the loop busy, once a second.
    While the source is disconnected, it checks at each record. `description` is what the source
    connects to, such as "the broker at HOST".
    """

    most_steps = MOST_IN_A_ROW

    def __init__(self, source: Source | PartitionedLog, description: str) -> None:
        self._source = source
        self._description = description
        self._disconnected_since: float | None = None
        self._due = perf_counter() + _SECONDS

    def on_step(self, step: Step) -> None:
        """Check whether the source has reconnected or, once a second, whether it is connected."""
        if step.ended >= self._due or self._disconnected_since is not None:
            self._due = step.ended + _SECONDS
            self._check()

    def _look(self, *_: Any, **__: Any) -> None:
        """Check whether the source has reconnected."""
        if self._disconnected_since is not None:
            self._check()

    on_dead_letter = on_repeat = on_command = _look

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
