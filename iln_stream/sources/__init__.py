"""Where events come from."""

from iln_stream.sources.base import Log, Record, Resume, Source
from iln_stream.sources.csv_file import CsvSource
from iln_stream.sources.json_lines import JsonLinesSource
from iln_stream.sources.kafka import KafkaSource
from iln_stream.sources.kafka_partition import (
    KafkaPartition,
    Start,
    require_start,
    warn_of_new_partitions,
)
from iln_stream.sources.river_dataset import RiverDatasetSource

__all__ = [
    "CsvSource",
    "JsonLinesSource",
    "KafkaPartition",
    "KafkaSource",
    "Log",
    "Record",
    "Resume",
    "RiverDatasetSource",
    "Source",
    "Start",
    "require_start",
    "warn_of_new_partitions",
]
