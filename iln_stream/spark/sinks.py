"""Sinks of micro-batches: one that comes again, after a crash, adds nothing."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from iln_stream.errors import SinkError
from iln_stream.spark.one_key import DEAD_LETTER, PREDICTION
from iln_stream.streams import Scheme, StreamOptions, TransactionalSink, stream_at

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class FolderSink:
    """Writes each micro-batch to a folder of its own, as Parquet; workers write it.

    A micro-batch that comes again has the same number, so it replaces its folder. Read all with
    `spark.read.parquet(FOLDER)`. Folders `batch=NUMBER` go to a path or URL that all workers can
    write to.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder.rstrip("/")

    def write(self, batch: "DataFrame", number: int) -> None:
        """Replace the micro-batch's folder."""
        batch.write.mode("overwrite").parquet(f"{self._folder}/batch={number}")

    def close(self) -> None:
        """Do nothing: nothing is open."""


class _Origin(NamedTuple):
    """What a transactional sink has to know of the log that the messages come from."""

    stream: str
    partitions: Sequence[int]
    topic_id: str | None
    n_partitions: int


class LogSink:
    """Writes predictions and dead letters to logs, each exactly once.

    Each transaction stores messages with the positions of their records; what is at or before a
    stored position is not written again. The driver writes: all messages of a micro-batch pass
    through its memory. Addresses are `kafka:TOPIC` or `sqlite:PATH#TOPIC`.

    Raises
    ------
    SinkError
        When a log has no transactions.

    """

    def __init__(
        self, source: Scheme, predictions: str, dead_letters: str, options: StreamOptions
    ) -> None:
        origin = _origin(source)
        self._sinks: dict[str, TransactionalSink] = {}
        self._committed: dict[str, dict[int, int]] = {}
        for kind, address in ((PREDICTION, predictions), (DEAD_LETTER, dead_letters)):
            stream = stream_at(address, options)
            if not stream.has_transactions:
                self.close()
                raise SinkError(
                    f"{address} has no transactions: write to kafka:TOPIC, sqlite:PATH#TOPIC or "
                    "folder:PATH"
                )
            sink = stream.transactional_sink(origin, "spark")  # type: ignore[arg-type]
            self._sinks[kind] = sink
            self._committed[kind] = dict(sink.committed())

    def write(self, batch: "DataFrame", number: int) -> None:
        """Write the messages that are not stored yet, by partition and offset."""
        table = batch.toArrow().sort_by([("partition", "ascending"), ("offset", "ascending")])
        names = ("key", "kind", "partition", "offset", "value")
        columns = (table.column(name).to_pylist() for name in names)
        for key, kind, partition, offset, value in zip(*columns, strict=True):
            committed = self._committed[kind]
            if offset >= committed.get(partition, 0):
                text = None if key is None else key.decode(errors="surrogateescape")
                self._sinks[kind].publish(partition, offset, text, value)
                committed[partition] = offset + 1
                self._sinks[kind].flush_if_due()
        for sink in self._sinks.values():
            sink.flush()

    def close(self) -> None:
        for sink in self._sinks.values():
            sink.close()


def sink_at(
    address: str, dead_letters: str | None, source: Scheme, options: StreamOptions
) -> FolderSink | LogSink:
    """Return the sink at an address: `folder:PATH`, or a log with transactions.

    A folder takes the dead letters, too; those of a log go to `dead_letters`, or else to the
    address with `-dead-letters`.
    """
    scheme, _, rest = address.partition(":")
    if scheme == "folder" and rest:
        return FolderSink(rest)
    letters = dead_letters or stream_at(address, options).dead_letters()
    return LogSink(source, address, letters, options)


def _origin(source: Scheme) -> _Origin:
    partitions = source.partitions()
    log = source.log(partitions[0], "latest")
    try:
        return _Origin(log.stream, partitions, log.topic_id, log.n_partitions)
    finally:
        log.close()
