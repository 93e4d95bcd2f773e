"""Predictions to a Kafka topic, each there exactly once for readers of committed records."""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from iln_stream.errors import SinkError
from iln_stream.streams.kafka.options import CONNECTION, known_to
from iln_stream.streams.kafka.sink import KafkaSink

_LARGEST = 2_000
"""Messages in a transaction; a commit costs as much as thousands of them."""

_LONGEST = 0.5
"""Seconds until what was written is committed, and so seen."""

_ANSWER_WITHIN = 30.0
"""Seconds. kafka-python itself would wait for ever for a commit if the broker went away."""

_TOPIC_ID = "iln-source-topic-id"
"""Header of a prediction, so that a topic created anew isn't taken for the one before."""


class TransactionalSink(KafkaSink):
    """Appends messages and, in the same transactions, says up to where their source was read.

    The transactional id is the source's and the reader's, so whoever opens a sink for them ends
    what an earlier process had left open and can rely on `committed`; the earlier process, should
    it still live, can't write any more.

    Parameters
    ----------
    topic
        Where messages go.
    source
        Topic that the messages come of.
    partitions
        Its partitions that are read.
    reader
        What tells whoever reads them from readers of other partitions, such as `0` or `all`.
    topic_id
        Of the source's topic.
    bootstrap, options
        As of `KafkaSink`.

    Raises
    ------
    SinkError
        When no broker answers, the topic can't be created, or transactions are not allowed.

    """

    def __init__(
        self,
        topic: str,
        source: str,
        partitions: Sequence[int],
        reader: str,
        topic_id: str | None,
        *,
        bootstrap: str,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._source = source
        self._partitions = [TopicPartition(source, partition) for partition in partitions]
        self._id = f"iln-stream.{source}.{reader}.{topic}"
        self._topic_id = topic_id or ""
        self._bootstrap = bootstrap.split(",")
        self._options = dict(options or {})
        self._lock = threading.RLock()  # the loop writes; a snapshot's thread flushes
        self._n_open = 0
        self._opened_at = 0.0
        self._read: dict[int, int] = {}  # next offset by partition
        # Low: what a killed process left open hides from readers what comes after it.
        ours = {"transactional_id": self._id, "transaction_timeout_ms": 15_000}
        super().__init__(topic, bootstrap=bootstrap, options={**self._options, **ours})
        try:
            self._attempt(self._producer.init_transactions)
        except SinkError:
            self.close()
            raise

    def committed(self) -> dict[int, int]:
        """Return, by partition, the offset from which on nothing is committed yet.

        A partition of which nothing is committed at all is missing. The broker keeps these as the
        group's committed offsets. Where it forgot (by default after a week), the last committed
        messages tell.
        """
        consumer = KafkaConsumer(
            bootstrap_servers=self._bootstrap,
            **{
                **CONNECTION,
                **known_to(KafkaConsumer, self._options),
                "group_id": self._id,
                "enable_auto_commit": False,
                "auto_offset_reset": "none",
                "allow_auto_create_topics": False,
                "isolation_level": "read_committed",
            },
        )
        try:
            found = {}
            for here in self._partitions:
                kept = consumer.committed(
                    here, metadata=True, timeout_ms=int(_ANSWER_WITHIN * 1000)
                )
                if kept is not None and kept.metadata == self._topic_id:
                    found[here.partition] = int(kept.offset)
            # Each commit is of all partitions: where some are known the others never had messages.
            self._read = found or self._after_last_published(consumer)
            return dict(self._read)
        except KafkaError as error:
            raise SinkError(f"topic {self._topic}: {error}") from error
        finally:
            consumer.close()

    def publish(self, partition: int, offset: int, key: str | None, value: bytes) -> None:
        """Queue the message that came of the source's record at an offset of a partition.

        The committed offset moves with it in one: a flush by another thread sees both or neither.
        """
        with self._lock:
            self._raise_if_failed()
            if not self._n_open:
                self._attempt(self._producer.begin_transaction)
                self._opened_at = monotonic()
            self._n_open += 1
            self._send(key, value, [(_TOPIC_ID, self._topic_id.encode())])
            self._read[partition] = offset + 1
            if self._n_open >= _LARGEST:
                self.flush()
            self.flush_if_due()

    def flush_if_due(self) -> None:
        """Commit what was written if that is half a second ago."""
        if self._n_open and monotonic() - self._opened_at > _LONGEST:
            self.flush()

    def send_queued(self) -> None:
        """Commit what was written, since readers see nothing before."""
        self.flush()

    def flush(self) -> None:
        """Commit what was written, and up to where its source was read."""
        with self._lock:
            self._raise_if_failed()
            if self._n_open:
                self._attempt(self._commit)
                self._raise_if_failed()
                self._n_open = 0

    def _commit(self) -> None:
        read = {
            TopicPartition(self._source, partition): OffsetAndMetadata(offset, self._topic_id, -1)
            for partition, offset in self._read.items()
        }
        self._producer.send_offsets_to_transaction(read, self._id)
        self._producer.commit_transaction()

    def _attempt(self, action: Callable[[], None]) -> None:
        """Let the producer do something, but not for ever."""
        failed: list[BaseException] = []

        def run() -> None:
            try:
                action()
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=run, name="transaction", daemon=True)
        thread.start()
        thread.join(_ANSWER_WITHIN)
        if thread.is_alive():
            failed.append(TimeoutError(f"no answer from the brokers in {_ANSWER_WITHIN:g} s"))
        if failed:
            self._remember(failed[0])
            self._raise_if_failed()

    def _after_last_published(self, consumer: KafkaConsumer) -> dict[int, int]:
        """Return the offsets after those of the last committed messages of our source."""
        here = TopicPartition(self._topic, 0)
        consumer.assign([here])
        first = consumer.beginning_offsets([here])[here]
        end = consumer.end_offsets([here])[here]
        step = 1_000
        missing = {each.partition for each in self._partitions}
        found: dict[int, int] = {}
        while end > first and missing - found.keys():
            begin = max(first, end - step)
            consumer.seek(here, begin)
            last: dict[int, int] = {}
            while (consumer.position(here) or begin) < end:
                for message in consumer.poll(timeout_ms=500).get(here, ()):
                    if message.offset < end and self._is_ours(message):
                        told = json.loads(message.value)
                        last[told["partition"]] = told["offset"] + 1
            found = last | found
            end, step = begin, 2 * step
        return {partition: found[partition] for partition in missing & found.keys()}

    def _is_ours(self, message: Any) -> bool:
        if (_TOPIC_ID, self._topic_id.encode()) not in message.headers:
            return False
        return bool(json.loads(message.value)["stream"] == self._source)
