"""Events as they cross the wire, and what we send out about them."""

from iln_stream.events.event import Event
from iln_stream.events.messages import DeadLetter, Prediction

__all__ = ["DeadLetter", "Event", "Prediction"]
