"""Where events come from."""

from iln_stream.sources.base import Record, Source
from iln_stream.sources.csv_file import CsvSource
from iln_stream.sources.json_lines import JsonLinesSource
from iln_stream.sources.kafka import KafkaSource
from iln_stream.sources.river_dataset import RiverDatasetSource

__all__ = [
    "CsvSource",
    "JsonLinesSource",
    "KafkaSource",
    "Record",
    "RiverDatasetSource",
    "Source",
]
