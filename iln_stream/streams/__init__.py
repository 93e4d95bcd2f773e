"""Sources of events, and sinks for predictions and dead letters."""

from iln_stream.streams.address import AddressError, schemes, stream_at
from iln_stream.streams.appender import Appended, Appender, NewRecord
from iln_stream.streams.base import Log, Record, Resume, Source, Start, label_partition
from iln_stream.streams.journal import Journal, Run, after, read_journal
from iln_stream.streams.labels import LabelPartition
from iln_stream.streams.scheme import Scheme, StreamOptions
from iln_stream.streams.selection import Selection
from iln_stream.streams.sequencer import LogPartitions, Sequencer
from iln_stream.streams.sink import PartitionedSink, Sink, TransactionalSink

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
