"""Commands to the learner: records of the log that are no events."""

import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeGuard

from iln_stream.records.decoding import MalformedError, shown
from iln_stream.records.parsing import parse_json

MARK = b'{"iln_stream"'
"""The first bytes of each command, whatever the format of the events."""


class Command(NamedTuple):
    """A command that was carried out, at its place in the order of events."""

    # stream, partition, offset: where its record is
    stream: str
    partition: int
    offset: int
    time: float | None  # when the record was written, in POSIX seconds; None: unknown
    name: Literal["promote"]  # what was done: `promote` makes a contender the champion
    contender: str


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
    fields = parse_json(payload)
    match fields:
        case {"iln_stream": {"promote": str(contender)}} if contender:
            if json.loads(promotion(contender)) == fields:
                return contender
    raise MalformedError(
        f'command: a command is {{"iln_stream": {{"promote": "NAME"}}}}, got {shown(fields)}'
    )
