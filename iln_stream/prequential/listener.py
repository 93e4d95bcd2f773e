"""Observers of the loop."""

from iln_stream.events import Command, DeadLetter
from iln_stream.prequential.step import Step


class Listener:
    """Observes the loop: override the methods that you need.

    A listener must not change the learner or the order of events. If it can't do its work (a full
    disk, a lost broker), it raises an error, which stops the loop before the next record.
    """

    def on_step(self, step: Step) -> None:
        """Handle an event that was predicted, learned, or both."""

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """Handle a record that could not be decoded, predicted or learned."""

    def on_repeat(self, partition: int, offset: int) -> None:
        """Handle a record that was skipped because it repeats an earlier one."""

    def on_command(self, command: Command) -> None:
        """Handle a command that the learner has carried out, such as a promotion."""

    def on_idle(self) -> None:
        """Handle a poll that returned nothing; all records so far have been processed."""

    def close(self) -> None:
        """Release resources: the loop has ended, normally or with an error."""
