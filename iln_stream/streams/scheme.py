"""Schemes: the kinds of streams, named by the first word of an address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from iln_stream.errors import SinkError, SourceError
from iln_stream.streams.appender import Appender
from iln_stream.streams.base import Log, Source, Start
from iln_stream.streams.sink import Sink, TransactionalSink

KafkaClient = Literal["kafka-python", "confluent"]

Form = Literal["json", "rows", "table", "examples"]


@dataclass(frozen=True)
class StreamOptions:
    """Options of all kinds of streams; each scheme uses those that apply to it.

    Parameters
    ----------
    bootstrap, kafka_options, kafka_secrets, kafka_client, broker_wait
        Options for Kafka; see the settings with these names.
    stop_at_end
        Whether to stop at the end that a log had when it was opened.
    limit
        Maximum number of events from a source that is not a log.
    seed
        Seed of synthetic streams.
    separator
        What separates the cells of a CSV file: `,`, `;`, `tab` or `|`.

    """

    bootstrap: str = "127.0.0.1:9092"
    kafka_options: Mapping[str, Any] = field(default_factory=dict)
    kafka_secrets: Mapping[str, str] = field(default_factory=dict)
    kafka_client: KafkaClient = "kafka-python"
    broker_wait: float = 30.0
    stop_at_end: bool = False
    limit: int | None = None
    seed: int = 1
    separator: str = ","


class Scheme:
    """A kind of stream: override what it supports; the rest raises an error with the address.

    A new kind needs a module with a subclass and a line in `address.py` or, in another package, an
    entry point in the group `iln_stream.streams`.
    """

    is_log = False
    """Whether reading can start at any offset, so that a learner can be resumed."""

    has_transactions = False
    """Whether one transaction can store messages and the positions that they come from."""

    publishes_once = False
    """Whether transactions cost so little that predictions use them unless the user says no."""

    is_shared = True
    """Whether several processes may write to it at the same time."""

    needs_broker = False
    """Whether it needs the brokers in `bootstrap`."""

    form: Form = "json"
    """What payloads are: JSON text; rows, mappings of texts by column; a table, mappings of values
    of any type by column; or examples, mappings of the form `{"x": {...}, "y": ...}`."""

    needs_start = False
    """Whether the user has to set `start`."""

    def __init__(self, scheme: str, name: str, options: StreamOptions) -> None:
        self.scheme = scheme
        self.name = name
        self.options = options

    @property
    def address(self) -> str:
        """The whole address."""
        return f"{self.scheme}:{self.name}"

    @property
    def peer(self) -> str:
        """What the stream depends on, as log messages name it during an outage."""
        return self.address

    @property
    def place(self) -> str:
        """The address in a unique spelling, to compare addresses."""
        return self.address

    def check(self) -> None:
        """Check name and options without opening the stream; raise an error if one is wrong."""

    @property
    def is_endless(self) -> bool:
        """Whether the stream makes events for ever."""
        return False

    def columns(self) -> Sequence[str] | None:
        """Return the names of the fields that every record has; None: they may differ."""
        return None

    def separator(self) -> str | None:
        """Return what seems to separate the cells of a CSV file; None: unknown, or no such file."""
        return None

    def wait(self) -> bool:
        """Wait until the stream can be opened; return whether it seems to be."""
        return True

    def log_in(self) -> None:
        """Connect and disconnect; raise an error that says why that fails."""

    def prepare(self) -> None:
        """Create what a run may create before it reads, such as a log that waits for events."""

    def create(self, n_partitions: int) -> int:
        """Create a log with partitions, if it does not exist; return how many it has."""
        return 1

    def source(self) -> Source:
        """Open the stream for reading from its beginning."""
        raise SourceError(f"source = {self.address!r} can't be read from")

    def partitions(self) -> Sequence[int]:
        """Return the partitions of a log."""
        raise self._no_log()

    def log(self, partition: int, start: Start | None, stop_at: int | None = None) -> Log:
        """Open one partition of a log for reading from `start` up to `stop_at` at most."""
        raise self._no_log()

    def sink(self, partition: int = 0) -> Sink:
        """Open the stream for writing."""
        raise SinkError(f"{self.address} can't be written to")

    def partitioned_sink(self, n_partitions: int) -> Sink:
        """Open the stream for messages that go to the partition of the record they came from.

        If it does not exist, it is created with this number of partitions. A stream without
        partitions opens an ordinary sink.
        """
        return self.sink()

    def appender(self) -> Appender:
        """Open the stream for appending events; each append says where they are."""
        raise SinkError(f"{self.address} can't be appended to")

    def transactional_sink(self, source: Log, reader: str, kind: str = "") -> TransactionalSink:
        """Open the stream for writing, in transactions with the positions of `source`.

        If a record leads to several messages, `kind` tells them apart: each kind has its positions.
        """
        raise SinkError(f"{self.address} has no transactions")

    def written(self) -> Source:
        """Open what `Sink.write` has written, for reading from beginning to current end.

        Raises
        ------
        NoStreamError
            When the topic or file does not exist.

        """
        raise SourceError(f"{self.address!r} can't be read after writing")

    def sibling(self, suffix: str) -> str:
        """Return the address with `suffix` appended to its name."""
        raise SinkError(f"{self.address!r} can't have a suffix: give a file or kafka:TOPIC")

    def dead_letters(self) -> str:
        """Return the default address for dead letters from this stream."""
        return "dead-letters.jsonl"

    def _no_log(self) -> SourceError:
        return SourceError(
            f"source = {self.address!r} is not a log: it can't be read from an offset"
        )
