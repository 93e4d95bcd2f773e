"""The scheme for embedded logs."""

import logging
import re
from collections.abc import Sequence
from contextlib import closing
from os.path import realpath  # unlike `Path.resolve`, no error for a link to itself
from pathlib import Path

from iln_stream.errors import IlnError, SinkError, SourceError
from iln_stream.streams.addresses import Scheme, StreamOptions
from iln_stream.streams.base import Appender, Log, Sink, Source, Start, TransactionalSink
from iln_stream.streams.sqlite.database import Database
from iln_stream.streams.sqlite.log import SqliteLog
from iln_stream.streams.sqlite.records import partitions_of
from iln_stream.streams.sqlite.topics import (
    check_name,
    find_or_create_topic,
    find_topic,
    require_topic,
)
from iln_stream.streams.sqlite.writing import SqliteAppender, SqliteSink, SqliteTransactionalSink

log = logging.getLogger(__name__)

_DEFAULT_TOPIC = "events"


class SqliteScheme(Scheme):
    """`sqlite:PATH`, the topic `events` of the file, or `sqlite:PATH#TOPIC`.

    Examples
    --------
    >>> from iln_stream.streams import StreamOptions, stream_at
    >>> stream = stream_at("sqlite:data/log.db#predictions", StreamOptions())
    >>> stream.name, stream.topic, stream.sibling("replayed")
    ('log-predictions', 'predictions', 'sqlite:data/log.db#predictions-replayed')

    """

    is_log = True
    has_transactions = True
    publishes_once = True

    def __init__(self, scheme: str, name: str, options: StreamOptions) -> None:
        path, sharp, topic = name.rpartition("#")
        self.path = Path(path if sharp else name)
        self.topic = topic if sharp else _DEFAULT_TOPIC
        # A clean name, as it becomes part of the names of folders and metrics.
        stem = re.sub(r"[^A-Za-z0-9._-]", "_", self.path.stem)
        super().__init__(scheme, f"{stem}-{self.topic}", options)

    @property
    def address(self) -> str:
        suffix = "" if self.topic == _DEFAULT_TOPIC else f"#{self.topic}"
        return f"{self.scheme}:{self.path}{suffix}"

    @property
    def place(self) -> str:
        """The absolute path and the topic."""
        return f"{self.scheme}:{realpath(self.path)}#{self.topic}"

    def check(self) -> None:
        """Refuse options of other sources, and a wrong name."""
        self._check_name(SourceError)
        if self.options.limit is not None:
            raise SourceError("limit: a log has none; set stop_at_end instead")

    def prepare(self) -> None:
        """Create the file and the topic if they do not exist, unless the run ends at their end."""
        if not self.options.stop_at_end:
            with closing(Database(self.path, create=True)) as database:
                with database.read() as connection:
                    if find_topic(connection, self.topic) is None:
                        log.warning(
                            f"{self.address} does not exist: creating it, and waiting for events"
                        )
                find_or_create_topic(database, self.topic)

    def partitions(self) -> Sequence[int]:
        """Return the partitions of the topic."""
        with (
            closing(Database(self.path, create=False)) as database,
            database.read() as connection,
        ):
            topic = require_topic(connection, self.path, self.topic)
            return [each.number for each in partitions_of(connection, topic.number)]

    def create(self, n_partitions: int) -> int:
        """Create the topic if it does not exist; return its number of partitions."""
        self._check_name()
        with closing(Database(self.path, create=True, error=SinkError)) as database:
            find_or_create_topic(database, self.topic, n_partitions)
        return len(self.partitions())

    def log(self, partition: int, start: Start | None, stop_at: int | None = None) -> Log:
        """Open a partition for reading, by default from its beginning."""
        return SqliteLog(
            self.path, self.topic, self.name, partition,
            start=start, stop_at_end=self.options.stop_at_end, stop_at=stop_at,
        )  # fmt: skip

    def sink(self, partition: int = 0) -> Sink:
        """Open one partition for writing; create file and topic if necessary."""
        self._check_name()
        return SqliteSink(self.path, self.topic, partition)

    def partitioned_sink(self, n_partitions: int) -> Sink:
        """Open all partitions for writing; create the topic with so many if necessary."""
        self._check_name()
        return SqliteSink(self.path, self.topic, n_partitions=n_partitions)

    def appender(self) -> Appender:
        """Open the topic for appending; create file and topic if necessary."""
        self._check_name()
        return SqliteAppender(self.path, self.topic, self.name)

    def transactional_sink(self, source: Log, reader: str, kind: str = "") -> TransactionalSink:
        """Open the topic for writing, in transactions with the positions of `source`."""
        self._check_name()
        return SqliteTransactionalSink(
            self.path,
            self.topic,
            source.stream,
            source.topic_id,
            source.partitions,
            source.n_partitions,
            kind,
        )

    def written(self) -> Source:
        """Open the partition that sinks write to, up to its current end."""
        return SqliteLog(self.path, self.topic, self.name, start="earliest", stop_at_end=True)

    def sibling(self, suffix: str) -> str:
        """Return the address of the topic with this suffix, in the same file."""
        return f"{self.scheme}:{self.path}#{self.topic}-{suffix}"

    def dead_letters(self) -> str:
        """Return the address of the topic for dead letters."""
        return self.sibling("dead-letters")

    def _check_name(self, error: type[IlnError] = SinkError) -> None:
        check_name(self.topic, error)
        if not self.path.name or self.path.is_dir():
            raise error(f"{self.address}: give the path of a file, like sqlite:log.db")
