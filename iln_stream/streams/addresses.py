"""Addresses of streams, and the kinds of streams that they name."""

import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Any, Literal

from iln_stream.errors import (
    IlnError,
    SinkError,
    SourceError,
    UnrecoverableError,
    did_you_mean,
    imported,
)
from iln_stream.streams.base import Appender, Log, Sink, Source, Start, TransactionalSink

KafkaClient = Literal["kafka-python", "confluent"]

Form = Literal["json", "rows", "table", "examples"]


@dataclass(frozen=True)
class StreamOptions:
    """Options of all kinds of streams; each scheme uses those that apply to it.

    Parameters
    ----------
    bootstrap, kafka_options, kafka_secrets, kafka_client
        Options for Kafka; see the settings with these names.
    stop_at_end
        Whether to stop at the end that a log had when it was opened.
    limit
        Maximum number of events from a source that is not a log.
    seed
        Seed of synthetic streams.
    separator
        What separates the cells of a CSV file: `,`, `;`, `tab`, `|` or `blank`.
    columns
        Names of the columns of a CSV file without a header.

    """

    bootstrap: str = "127.0.0.1:9092"
    kafka_options: Mapping[str, Any] = field(default_factory=dict)
    kafka_secrets: Mapping[str, str] = field(default_factory=dict)
    kafka_client: KafkaClient = "kafka-python"
    stop_at_end: bool = False
    limit: int | None = None
    seed: int = 1
    separator: str = ","
    columns: Sequence[str] = ()


class Scheme:
    """A kind of stream: override what it supports; the rest raises an error with the address.

    A new kind needs a module with a subclass and a line in `_SCHEMES` or, in another package, an
    entry point in the group `iln_stream.streams`. It implements `source`; a log `partitions` and
    `log` in its place, and `appender` for `dead-letters replay` and `promote`. What takes messages
    implements `sink`, and `transactional_sink` if it has transactions.
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

    can_be_lost = True
    """Whether what it reads from may be unreachable for a while, as a broker may."""

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

    def n_records(self, source: Source) -> int | None:
        """Return about how many records the stream's source has; None: unknown, or no end."""
        return source.lag if self.options.stop_at_end or not self.is_log else None

    def columns(self) -> Sequence[str] | None:
        """Return the names of the fields that every record has; None: they may differ."""
        return None

    def layout(self) -> Mapping[str, Any]:
        """Return the settings that take a CSV file apart; none of others."""
        return {}

    def wait(self, seconds: float = 30.0) -> bool:
        """Wait until the stream can be opened, or so long; return whether it seems to be."""
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
        """Open one partition of a log for reading from `start` up to `stop_at` at most.

        Without a start it is the scheme's default, or an error if the scheme needs one.
        """
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


class ImportedScheme(Scheme):
    """`package.module:attribute` of a source or a sink, or of a function that returns one.

    The function gets the `StreamOptions`.

    Examples
    --------
    >>> from iln_stream.streams import StreamOptions, stream_at
    >>> stream_at("no.such.module:source", StreamOptions()).source()
    Traceback (most recent call last):
    ...
    iln_stream.errors.SourceError: source = 'no.such.module:source': no.such.module can't be \
imported (No module named 'no'): correct its name, or install it

    """

    def source(self) -> Source:
        """Import the object, and call it if it is a function or a class."""
        return self._open("source", "poll", SourceError)  # type: ignore[no-any-return]

    def sink(self, partition: int = 0) -> Sink:
        """Import the object, and call it if it is a function or a class."""
        return self._open("sink", "write", SinkError)  # type: ignore[no-any-return]

    def _open(self, kind: str, method: str, error: type[IlnError]) -> Any:
        try:
            found = imported(kind, self.address, error)
        except error as failure:
            hint = did_you_mean(self.address.partition(":")[0], _SCHEMES)
            raise error(f"{failure}{hint}") from failure
        opened = found(self.options) if callable(found) else found
        if not hasattr(opened, method):
            raise error(
                f"{kind} = {self.address!r} is no {kind}, but {type(opened).__name__}: see "
                f"iln_stream.{kind.title()}"
            )
        return opened


GROUP = "iln_stream.streams"
"""Entry points with schemes of other packages: `name = package.module:SchemeSubclass`."""

_SCHEMES = {
    "kafka": "iln_stream.streams.kafka.scheme:KafkaScheme",
    "sqlite": "iln_stream.streams.sqlite.scheme:SqliteScheme",
    "river": "iln_stream.streams.river:RiverScheme",
    "synthetic": "iln_stream.streams.river:RiverScheme",
    "file": "iln_stream.streams.files.scheme:FileScheme",
    "-": "iln_stream.streams.files.scheme:StandardScheme",
}
"""Import paths, so that each is imported when it is needed: a file needs no Kafka client."""

_IMPORT_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


class AddressError(UnrecoverableError):
    """An address that names no stream."""


def stream_at(address: str, options: StreamOptions) -> Scheme:
    """Return the stream at an address, without opening it.

    Parameters
    ----------
    address
        `SCHEME:NAME`, such as `kafka:iln-events`, `sqlite:log.db` or `river:TrumpApproval`;
        `-` for standard input and output; `package.module:attribute` of a source, or of a function
        that returns one; or the path of a file.
    options
        Options for all kinds of streams.

    Raises
    ------
    AddressError
        When the address names no stream.

    Examples
    --------
    >>> from iln_stream.streams import StreamOptions, stream_at
    >>> stream_at("events.jsonl", StreamOptions()).is_log
    False
    >>> stream_at("kafka:", StreamOptions())
    Traceback (most recent call last):
    ...
    iln_stream.streams.addresses.AddressError: 'kafka:' names nothing: give kafka:NAME

    """
    if address == "-":
        return _scheme("-")("-", "", options)
    head, colon, name = address.partition(":")
    if head != "-" and (head in _SCHEMES or (colon and head in schemes())):  # from packages: slow
        if not name:
            raise AddressError(f"{address!r} names nothing: give {head}:NAME")
        return _scheme(head)(head, name, options)
    if colon and _IMPORT_PATH.fullmatch(address):
        return ImportedScheme(head, name, options)
    return _scheme("file")("file", address, options)


def schemes() -> list[str]:
    """Return the names of all schemes, including those of other packages."""
    return [*_SCHEMES, *(point.name for point in entry_points(group=GROUP))]


def _scheme(name: str) -> type[Scheme]:
    if name in _SCHEMES:
        module, _, attribute = _SCHEMES[name].partition(":")
        return getattr(importlib.import_module(module), attribute)  # type: ignore[no-any-return]
    points = list(entry_points(group=GROUP, name=name))
    if len(points) > 1:
        both = " and ".join(point.value for point in points)
        raise AddressError(
            f"{name}: several packages define this scheme: {both}; uninstall all but one"
        )
    return points[0].load()  # type: ignore[no-any-return]
