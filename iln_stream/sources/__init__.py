"""Where events come from."""

from iln_stream.sources.base import Record, Source

__all__ = ["Record", "Source"]
