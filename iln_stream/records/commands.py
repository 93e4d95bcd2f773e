"""Commands to the learner: records of the log that are no events."""

import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeGuard

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from iln_stream.records.decoding import MalformedError, check_size, error_details, reason
from iln_stream.records.messages import Text

MARK = b'{"iln_stream"'
"""The first bytes of each command, whatever the format of the events."""


class Command(NamedTuple):
    """A command that was carried out, at its place in the order of events.

    Parameters
    ----------
    stream, partition, offset
        Where its record is.
    time
        When the record was written, in POSIX seconds; None: unknown.
    name
        What was done: `promote` makes a contender the champion.
    contender
        Its name.

    """

    stream: str
    partition: int
    offset: int
    time: float | None
    name: Literal["promote"]
    contender: str


class _Promote(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    promote: Text = Field(min_length=1)


class _Envelope(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    iln_stream: _Promote


def is_command(payload: bytes | Mapping[str, Any] | None) -> TypeGuard[bytes]:
    """Return whether a record is a command, by its first bytes."""
    return type(payload) is bytes and payload.startswith(MARK)


def promotion(contender: str) -> bytes:
    """Return the record that makes a contender the champion.

    Examples
    --------
    >>> from iln_stream.records import promoted, promotion
    >>> promotion("linear")
    b'{"iln_stream": {"promote": "linear"}}'
    >>> promoted(promotion("linear"))
    'linear'

    """
    return json.dumps({"iln_stream": {"promote": contender}}, ensure_ascii=False).encode()


def promoted(payload: bytes) -> str:
    """Return the contender that a command promotes.

    Raises
    ------
    MalformedError
        When it is another command, or none.

    """
    try:
        check_size(payload)
        return _Envelope.model_validate_json(payload).iln_stream.promote
    except ValidationError as error:
        raise MalformedError(
            f"{reason(error_details(error, 'command'), 'command')}; a command is "
            '{"iln_stream": {"promote": "NAME"}}'
        ) from None
