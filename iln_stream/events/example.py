"""What the loop gets from a record: an example to predict, to learn, or both."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from iln_stream.events.decode import decode
from iln_stream.events.event import Event, Label
from iln_stream.events.numbers_as_text import NumbersAsText
from iln_stream.events.one_hot import one_hot
from iln_stream.reporting import MetricSpec


class Example(NamedTuple):
    """A decoded record.

    Parameters
    ----------
    x
        Inputs as numbers, by name. None: the record is the label of an earlier event.
    y
        The label. None: the event is only predicted.
    id
        The sender's id of the event. None: it has none.
    time
        When the event happened: POSIX seconds. None: unknown.
    weight
        How much the event counts when it is learned, at least 0. None: not given.

    """

    x: dict[str, float] | None
    y: float | bool | str | None
    id: str | None
    time: float | None
    weight: float | None = None


class Decoder(Protocol):
    """Makes examples of records."""

    def __call__(self, payload: bytes | Mapping[str, Any] | None, written: float | None) -> Example:
        """Decode a record that was written at a time, in POSIX seconds; None: unknown.

        Raises
        ------
        MalformedError
            When the record is no example; the message names the field.

        """
        ...


class EnvelopeDecoder:
    """Decodes events of the form `{"x": {...}, "y": ..., "id": ..., "timestamp": ...}`.

    Texts that look like numbers are categories, as all texts are; they are counted and warned of.

    Parameters
    ----------
    event_type, label_type
        Define which labels are valid; see `decode`.

    Examples
    --------
    >>> from iln_stream.events import EnvelopeDecoder
    >>> EnvelopeDecoder()(b'{"x": {"sky": "clear"}, "y": 2, "id": "a-17"}', 60.0)
    Example(x={'sky=clear': 1.0}, y=2.0, id='a-17', time=60.0, weight=None)

    """

    def __init__(self, event_type: type[Event] = Event, label_type: type[Label] = Label) -> None:
        self._event_type = event_type
        self._label_type = label_type
        self._numbers_as_text = NumbersAsText()
        self.n_numbers_as_text = 0

    def __call__(self, payload: bytes | Mapping[str, Any] | None, written: float | None) -> Example:
        """Decode an event, or the label of an earlier one."""
        event = decode(payload, self._event_type, self._label_type)
        moment = event.timestamp
        time = written if moment is None else moment.timestamp()
        if not isinstance(event, Event):
            return Example(None, event.y, event.id, time, event.weight)
        if str in map(type, event.x.values()):
            self.n_numbers_as_text += self._numbers_as_text.watch(event.x)
        return Example(one_hot(event.x), event.y, event.id, time, event.weight)

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the count of numbers that came as text."""
        return (
            MetricSpec(
                "iln_numbers_as_categories_total",
                "counter",
                "Inputs of events that are numbers as text, which are read as categories.",
                lambda: self.n_numbers_as_text,
                of_process=True,
            ),
        )
