"""Makes records of the log from events and labels."""

from collections.abc import Sequence
from typing import Any

from iln_stream.api.http_error import HttpError
from iln_stream.api.messages import EventToPredict
from iln_stream.events import Event, Label, MalformedError, one_hot, promotion
from iln_stream.streams import NewRecord


def records_of_events(events: Sequence[Event], is_batch: bool) -> list[NewRecord]:
    """Return the records of events.

    Raises
    ------
    HttpError
        When the learner would refuse an event, as a dead letter.

    """
    for i, event in enumerate(events):
        try:
            one_hot(event.x)
        except MalformedError as error:
            raise _malformed(i, is_batch, str(error)) from None
    return [_of_event(event) for event in events]


def records_of_predicted(events: Sequence[EventToPredict], is_batch: bool) -> list[NewRecord]:
    """Return the records of those events to predict that have an id; their inputs are not checked.

    Raises
    ------
    HttpError
        When an event has a time or a weight that would not be recorded.

    """
    for i, event in enumerate(events):
        if event.id is None:
            for name in ("timestamp", "weight"):
                if getattr(event, name) is not None:
                    raise _malformed(
                        i,
                        is_batch,
                        f"{name}: only an event with an id is recorded, with its {name}; add an "
                        f"id, or leave the {name} out",
                    )
    return [_of_event(event, {"model"}) for event in events if event.id is not None]


def records_of_labels(labels: Sequence[Label]) -> list[NewRecord]:
    """Return the records of labels.

    A label that differs from the newest one of its event corrects it. An equal one is a repeat.
    """
    return [
        NewRecord(_value(label), label.id, _identity("label", label.id), corrects=True)
        for label in labels
    ]


def records_of_promotion(contender: str, partitions: Sequence[int]) -> list[NewRecord]:
    """Return the command that makes a contender the champion, once for each partition."""
    return [NewRecord(promotion(contender), partition=number) for number in partitions]


def _of_event(event: Event | EventToPredict, without: set[str] | None = None) -> NewRecord:
    identity = None if event.id is None else _identity("event", event.id)
    return NewRecord(_value(event, without), event.id, identity)


def _value(message: Any, without: set[str] | None = None) -> bytes:
    return message.model_dump_json(exclude_unset=True, exclude=without).encode()  # type: ignore[no-any-return]


def _identity(kind: str, name: str) -> str:
    """Return the record's id: an event and its label have the same name, but are two records."""
    if kind == "event" and not name.startswith(("event:", "label:")):
        return name
    return f"{kind}:{name}"


def _malformed(index: int, is_batch: bool, message: str) -> HttpError:
    return HttpError(422, "malformed", f"events.{index}.{message}" if is_batch else message)
