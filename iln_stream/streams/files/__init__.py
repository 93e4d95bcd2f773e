"""Files and pipes as streams."""

from iln_stream.streams.files.csv import CsvSource
from iln_stream.streams.files.json_lines import JsonLinesSink, JsonLinesSource

__all__ = ["CsvSource", "JsonLinesSink", "JsonLinesSource"]
