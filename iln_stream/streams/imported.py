"""Sources that a user names by import path."""

from iln_stream.errors import SourceError
from iln_stream.imports import imported
from iln_stream.streams.base import Source
from iln_stream.streams.scheme import Scheme


class ImportedScheme(Scheme):
    """`package.module:attribute` of a `Source`, or of a function from `StreamOptions` to one.

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
        found = imported("source", self.address, SourceError)
        return found(self.options) if callable(found) else found  # type: ignore[no-any-return]
