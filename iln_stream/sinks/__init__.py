"""Where predictions and dead letters go."""

from iln_stream.sinks.base import Sink

__all__ = ["Sink"]
