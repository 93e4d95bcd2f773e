"""Sources of events, and sinks for predictions and dead letters."""

from iln_stream.streams.addresses import AddressError, Scheme, StreamOptions, schemes, stream_at
from iln_stream.streams.base import (
    Appended,
    Appender,
    Log,
    NewRecord,
    PlacedMessage,
    Record,
    Resume,
    Sink,
    Source,
    Start,
    StreamPartition,
    TransactionalSink,
    as_texts,
    of_stream,
)
from iln_stream.streams.journal import Journal, PartitionRun, after, read_journal
from iln_stream.streams.log import Selection
from iln_stream.streams.sequencer import PartitionedLog, Sequencer

__all__ = [
    "AddressError",
    "Appended",
    "Appender",
    "Journal",
    "Log",
    "NewRecord",
    "PartitionRun",
    "PartitionedLog",
    "PlacedMessage",
    "Record",
    "Resume",
    "Scheme",
    "Selection",
    "Sequencer",
    "Sink",
    "Source",
    "Start",
    "StreamOptions",
    "StreamPartition",
    "TransactionalSink",
    "after",
    "as_texts",
    "of_stream",
    "read_journal",
    "schemes",
    "stream_at",
]
