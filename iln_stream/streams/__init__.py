"""Sources of events, and sinks for predictions and dead letters."""

from iln_stream.streams.addresses import AddressError, Scheme, StreamOptions, schemes, stream_at
from iln_stream.streams.base import (
    Appended,
    Appender,
    Log,
    NewRecord,
    PartitionedSink,
    Record,
    Resume,
    Sink,
    Source,
    Start,
    TransactionalSink,
    label_partition,
)
from iln_stream.streams.journal import Journal, Run, after, read_journal
from iln_stream.streams.log import LabelPartition, Selection
from iln_stream.streams.sequencer import LogPartitions, Sequencer

__all__ = [
    "AddressError",
    "Appended",
    "Appender",
    "Journal",
    "LabelPartition",
    "Log",
    "LogPartitions",
    "NewRecord",
    "PartitionedSink",
    "Record",
    "Resume",
    "Run",
    "Scheme",
    "Selection",
    "Sequencer",
    "Sink",
    "Source",
    "Start",
    "StreamOptions",
    "TransactionalSink",
    "after",
    "label_partition",
    "read_journal",
    "schemes",
    "stream_at",
]
