"""Predictions to a Kafka topic, exactly once for readers of committed records."""

import json
import threading
from collections.abc import Callable, Mapping, Sequence, Set
from time import monotonic
from typing import Any

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from iln_stream.errors import SinkError
from iln_stream.streams.addresses import KafkaClient
from iln_stream.streams.kafka.consumer import open_consumer
from iln_stream.streams.kafka.producer import KafkaSink

_LARGEST = 2_000
"""Maximum number of messages in a transaction; a commit costs as much as thousands of them."""

_LONGEST = 0.5
"""Maximum duration of a transaction in seconds; readers see its messages only then."""

_ANSWER_WITHIN = 30.0
"""Seconds. kafka-python itself waits for ever for a commit if the broker goes away."""

_TOPIC_ID = "iln-source-topic-id"
"""Header of a prediction with the id of its source's topic, which may have been recreated."""


class KafkaTransactionalSink(KafkaSink):
    """Appends messages and, in the same transactions, commits the offsets of their source.

    The transactional id is made from source and reader. So a new sink for them aborts the open
    transaction of an earlier process and can rely on `committed`; the earlier process, if it still
    runs, can't write any more.

    Parameters
    ----------
    topic
        Topic of the messages.
    source
        Topic of the records that lead to the messages.
    partitions
        Partitions of the source that are read.
    reader
        Name of the reader of these partitions, such as `0` or `all`; unique for the source.
    topic_id
        Id of the source's topic.
    bootstrap, n_partitions, options, client
        As in `KafkaSink`.

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
        n_partitions: int = 1,
        options: Mapping[str, Any] | None = None,
        client: KafkaClient = "kafka-python",
    ) -> None:
        self._source = source
        self._partitions = [TopicPartition(source, partition) for partition in partitions]
        self._id = f"iln-stream.{source}.{reader}.{topic}"
        self._topic_id = topic_id or ""
        self._bootstrap = bootstrap
        self._options = dict(options or {})
        self._lock = threading.RLock()  # the loop writes; a snapshot's thread flushes
        self._n_open = 0
        self._opened_at = 0.0
        self._read: dict[int, int] = {}  # next offset by partition
        # Short, because the open transaction of a killed process hides later messages.
        ours = {"transactional_id": self._id, "transaction_timeout_ms": 15_000}
        super().__init__(
            topic,
            bootstrap=bootstrap,
            n_partitions=n_partitions,
            options={**self._options, **ours},
            client=client,
        )
        try:
            self._attempt(self._producer.init_transactions)
        except SinkError:
            self.close()
            raise

    def committed(self) -> dict[int, int]:
        """Return the committed offset of each partition of the source that has one.

        These are the group's committed offsets on the broker. If the broker has deleted them (by
        default after a week), they are found from the last committed messages.
        """
        consumer = open_consumer(self._bootstrap, self._options, self._id, SinkError)
        try:
            found = {}
            for here in self._partitions:
                kept = consumer.committed(
                    here, metadata=True, timeout_ms=int(_ANSWER_WITHIN * 1000)
                )
                if kept is not None and kept.metadata == self._topic_id:
                    found[here.partition] = int(kept.offset)
            # A commit has all partitions: if some have offsets, the others never had messages.
            self._read = found or self._after_last_published(consumer)
            return dict(self._read)
        except KafkaError as error:
            raise SinkError(f"topic {self._topic}: {error}") from error
        finally:
            consumer.close()

    def publish(self, partition: int, offset: int, key: str | None, value: bytes) -> None:
        """Queue the message for the source's record at an offset of a partition.

        A flush by another thread commits both the message and the offset, or neither.
        """
        with self._lock:
            self._raise_if_failed()
            if not self._n_open:
                self._attempt(self._producer.begin_transaction)
                self._opened_at = monotonic()
            self._n_open += 1
            message = self._target(partition), key, value
            self._send([message], headers=[(_TOPIC_ID, self._topic_id.encode())])
            self._read[partition] = offset + 1
            if self._n_open >= _LARGEST:
                self.flush()
            self.flush_if_due()

    def flush_if_due(self) -> None:
        """Commit the open transaction if it is older than half a second."""
        if self._n_open and monotonic() - self._opened_at > _LONGEST:
            self.flush()

    def send_queued(self) -> None:
        """Commit the open transaction: readers see nothing before."""
        self.flush()

    def flush(self) -> None:
        """Commit the open transaction: messages and offsets of the source."""
        with self._lock:
            self._raise_if_failed()
            if self._n_open:
                self._attempt(self._commit)
                self._raise_if_failed()
                self._n_open = 0

    def _commit(self) -> None:
        self._producer.commit_transaction(self._id, self._source, self._read, self._topic_id)

    def _attempt(self, action: Callable[[], None]) -> None:
        """Call a method of the producer, with a time limit."""
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
        """Return the offsets after those of the last committed messages for our source."""
        found: dict[int, int] = {}
        ours = {each.partition for each in self._partitions}
        for target in {self._target(partition) for partition in ours}:
            here = {partition for partition in ours if self._target(partition) == target}
            found |= self._last_published(consumer, target, here)
        # A topic that got more partitions has the older messages in partition 0.
        return self._last_published(consumer, 0, ours - found.keys()) | found

    def _last_published(
        self, consumer: KafkaConsumer, target: int, wanted: Set[int]
    ) -> dict[int, int]:
        """Return the same for some partitions of the source, from one partition of the messages."""
        if not wanted:
            return {}
        here = TopicPartition(self._topic, target)
        consumer.assign([here])
        first = consumer.beginning_offsets([here])[here]
        end = consumer.end_offsets([here])[here]
        step = 1_000
        found: dict[int, int] = {}
        while end > first and wanted - found.keys():
            begin = max(first, end - step)
            consumer.seek(here, begin)
            last: dict[int, int] = {}
            while (consumer.position(here) or begin) < end:
                for message in consumer.poll(timeout_ms=500).get(here, ()):
                    if message.offset < end and self._is_ours(message):
                        sent = json.loads(message.value)
                        last[sent["partition"]] = sent["offset"] + 1
            found = last | found
            end, step = begin, 2 * step
        return {partition: found[partition] for partition in wanted & found.keys()}

    def _is_ours(self, message: Any) -> bool:
        if (_TOPIC_ID, self._topic_id.encode()) not in message.headers:
            return False
        return bool(json.loads(message.value)["stream"] == self._source)
