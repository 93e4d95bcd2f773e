"""What the loop tells its observers."""

from iln_stream.events import DeadLetter
from iln_stream.prequential.step import Step


class Listener:
    """Is told of every step and every dead letter; does nothing unless overridden.

    Listeners observe: none of them changes the learner or the order of events. One that can't do
    its work (a full disk, a lost broker) raises, which stops the loop before it goes on. Override
    `on_step` in the class: the loop looks there, and one set on an instance is never called.
    """

    def on_step(self, step: Step) -> None:
        """One event was predicted, and learned if it had a label."""

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """One record was no event that could be learned from."""

    def on_repeat(self, partition: int, offset: int) -> None:
        """One record brought only what had come before, and was passed over."""

    def on_idle(self) -> None:
        """The source had nothing new: everything so far is behind us."""

    def close(self) -> None:
        """The loop has ended, of itself or by an error."""
