"""Sources and sinks that a user names by import path."""

from typing import Any

from iln_stream.errors import IlnError, SinkError, SourceError
from iln_stream.imports import imported
from iln_stream.streams.base import Source
from iln_stream.streams.scheme import Scheme
from iln_stream.streams.sink import Sink


class ImportedScheme(Scheme):
    """`package.module:attribute` of a source or a sink, or of a function that returns one.

    The function gets the `StreamOptions`.

    Examples
    --------
    >>> from iln_stream.streams import StreamOptions, stream_at
    >>> stream_at("no.such.module:source", StreamOptions()).source()
    Traceback (most recent call last):
    ...
    iln_stream.errors.SourceError: source = 'no.such.module:source': No module named 'no'

    """

    def source(self) -> Source:
        """Import the object, and call it if it is a function or a class."""
        return self._open("source", "poll", SourceError)  # type: ignore[no-any-return]

    def sink(self, partition: int = 0) -> Sink:
        """Import the object, and call it if it is a function or a class."""
        return self._open("sink", "write", SinkError)  # type: ignore[no-any-return]

    def _open(self, kind: str, method: str, error: type[IlnError]) -> Any:
        found = imported(kind, self.address, error)
        opened = found(self.options) if callable(found) else found
        if not hasattr(opened, method):
            raise error(
                f"{kind} = {self.address!r} is no {kind}, but {type(opened).__name__}: see "
                f"iln_stream.{kind.title()}"
            )
        return opened
