"""The listener that lets snapshots be taken."""

from collections.abc import Callable
from time import perf_counter

from iln_stream.events import DeadLetter
from iln_stream.prequential import Listener, Step
from iln_stream.snapshots import Saver, Snapshot


class Snapshotter(Listener):
    """Captures the state between two records, every so many records or seconds.

    Only the copying is done here; the saver's thread does the rest. To be told last: what the
    state tells of has then been handed to the writers, which the saver flushes first. While a
    snapshot is on its way no other begins. What kept one from being stored is raised at the next
    record.

    Parameters
    ----------
    capture
        Returns the snapshot whose next offset is given.
    saver
        Stores it.
    every_events
        Records from one snapshot to the next.
    every_seconds
        Seconds from one to the next, if there was a record at all.
    next_offset
        Where the learner begins.

    """

    def __init__(
        self,
        capture: Callable[[int], Snapshot],
        saver: Saver,
        every_events: int,
        every_seconds: float,
        next_offset: int,
    ) -> None:
        self.saver = saver
        self._capture = capture
        self._every_events = every_events
        self._every_seconds = every_seconds
        self._begin = self._next_offset = next_offset
        self._n_since = 0
        self._due = perf_counter() + every_seconds

    @property
    def lag(self) -> int:
        """Offsets from the newest stored snapshot on, that a crash would have to read again."""
        newest = self.saver.newest  # asked first: another thread moves it, and never past us
        saved = self._begin if newest is None else max(self._begin, newest.next_offset)
        return self._next_offset - saved

    def on_step(self, step: Step) -> None:
        """A record was predicted, and perhaps learned."""
        self._next_offset = step.offset + 1
        self._n_since += 1
        # Once an event, so in few words.
        if step.ended >= self._due or self._n_since >= self._every_events or self.saver.failed:
            self._save_if_due()

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """A record was no event."""
        self._passed(letter.offset)

    def on_repeat(self, offset: int) -> None:
        """A record was a repeat."""
        self._passed(offset)

    def on_idle(self) -> None:
        """There is time: save what is due."""
        self._save_if_due()

    def finish(self, always: bool = False) -> None:
        """Return when the state after the last record is stored, if there was one or `always`."""
        self.saver.finish()
        if self._n_since or always:
            self._save()
            self.saver.finish()

    def _passed(self, offset: int) -> None:
        self._next_offset = offset + 1
        self._n_since += 1
        self._save_if_due()

    def _save_if_due(self) -> None:
        self.saver.check()
        due = self._n_since >= self._every_events or (self._n_since and perf_counter() >= self._due)
        if due and not self.saver.busy:
            self._save()

    def _save(self) -> None:
        self.saver.save(self._capture(self._next_offset))
        self._n_since = 0
        self._due = perf_counter() + self._every_seconds
