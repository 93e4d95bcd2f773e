"""A second log, which has labels of the events in the first one."""

from typing import Generic, NamedTuple, TypeVar

from iln_stream.events import Decoder

AnyDecoder = TypeVar("AnyDecoder", bound=Decoder)


class LabelLog(NamedTuple, Generic[AnyDecoder]):
    """How the loop reads labels from a log of their own.

    Parameters
    ----------
    stream
        Name of the log, for dead letters.
    decode
        Makes labels of its records: examples without x.

    """

    stream: str
    decode: AnyDecoder
