"""The logs that chaos tests feed and read: Kafka topics, and embedded logs."""

from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from support.embedded_log import values
from support.kafka_topics import (
    KeyedRecord,
    TransactionalWriter,
    create_topic,
    read_topic,
    unique_topic,
)

from iln_stream.streams.sqlite import SqliteSink, topics
from iln_stream.streams.sqlite import create_topic as create_embedded_topic

QUICK = '{"budget": 50, "draws": 16}'
"""Options of the learner."""


class KafkaLog:
    """A topic on a broker; after each committed transaction comes an aborted one.

    Other topics have the predictions and the dead letters.
    """

    def __init__(self, bootstrap: str, prefix: str, partitions: int = 1) -> None:
        self._bootstrap = bootstrap
        self.name = create_topic(bootstrap, partitions, name=unique_topic(prefix))
        self._writer = TransactionalWriter(bootstrap)

    def send(self, records: Iterable[KeyedRecord], partition: int = 0) -> Sequence[int]:
        """Append records to a partition, and return their offsets."""
        records = list(records)
        offsets = self._writer.commit(self.name, records, partition=partition)
        self._writer.abort(self.name, records[:7], partition=partition)
        return offsets

    def arguments(self, folder: Path, predictions: str, *more: str) -> list[str]:
        """Return a run's command line; its predictions go to a topic of this name."""
        topic = f"kafka:{self.name}-{predictions}"
        return [
            *("run", "--bootstrap", self._bootstrap, "--topic", self.name, "--start", "earliest"),
            *("--predictions", topic, "--dead-letters", f"{topic}-letters"),
            *_learner(folder),
            *more,
        ]

    def published(self, name: str, partition: int = 0) -> list[bytes]:
        """Return the committed predictions of a topic."""
        found = read_topic(self._bootstrap, f"{self.name}-{name}", partition)
        return [record.value for record in found]

    def close(self) -> None:
        self._writer.close()


class EmbeddedLog:
    """A file with the events, the predictions and the dead letters."""

    def __init__(self, path: Path, partitions: int = 1) -> None:
        self.name = f"{path.stem}-events"
        self.path = path
        create_embedded_topic(path, "events", partitions)

    def send(self, records: Iterable[KeyedRecord], partition: int = 0) -> Sequence[int]:
        records = list(records)
        with closing(SqliteSink(self.path, "events", partition)) as sink:
            for key, value in records:
                sink.write(None if key is None else key.decode(), value or b"")
        (end,) = [
            topic.partitions[partition].next_offset
            for topic in topics(self.path)
            if topic.topic.name == "events"
        ]
        return range(end - len(records), end)

    def arguments(self, folder: Path, predictions: str, *more: str) -> list[str]:
        address = f"sqlite:{self.path}"
        streams = ("--source", address, "--predictions", f"{address}#{predictions}")
        letters = ("--dead-letters", f"{address}#{predictions}-letters")
        return ["run", *streams, *letters, *_learner(folder), *more]

    def published(self, name: str, partition: int = 0) -> list[bytes]:
        return values(self.path, name, partition)

    def close(self) -> None:
        """Nothing is open."""


TestedLog = KafkaLog | EmbeddedLog


def _learner(folder: Path) -> tuple[str, ...]:
    options = ("--learner", "shrinking-gradient", "--learner-options", QUICK)
    return (*options, "--metrics-port", "0", "--snapshots", str(folder))
