"""River's data sets and synthetic streams."""

from iln_stream.streams.river.dataset import RiverDatasetSource, calendar

__all__ = ["RiverDatasetSource", "calendar"]
