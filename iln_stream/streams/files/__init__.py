"""Files and pipes as streams."""

from iln_stream.streams.files.csv import CsvSource
from iln_stream.streams.files.json_lines_sink import JsonLinesSink
from iln_stream.streams.files.json_lines_source import JsonLinesSource

__all__ = ["CsvSource", "JsonLinesSink", "JsonLinesSource"]
