"""Predictions to a Kafka topic, each there exactly once for readers of committed records."""

import json
import threading
from collections.abc import Callable, Mapping
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

    The transactional id is the source partition's, so whoever opens a sink for it ends what an
    earlier process had left open and can rely on `frontier`; the earlier process, should it still
    live, can't write any more.

    Parameters
    ----------
    topic
        Where messages go.
    source
        Topic and partition that the messages come of.
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
        source: tuple[str, int],
        topic_id: str | None,
        *,
        bootstrap: str,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._source = TopicPartition(*source)
        self._id = f"iln-stream.{source[0]}.{source[1]}.{topic}"
        self._topic_id = topic_id or ""
        self._bootstrap = bootstrap.split(",")
        self._options = dict(options or {})
        self._lock = threading.RLock()  # the loop writes; a snapshot's thread flushes
        self._n_open = 0
        self._opened_at = 0.0
        self._next_offset = 0
        # Low: what a killed process left open hides from readers what comes after it.
        ours = {"transactional_id": self._id, "transaction_timeout_ms": 15_000}
        super().__init__(topic, bootstrap=bootstrap, options={**self._options, **ours})
        try:
            self._attempt(self._producer.init_transactions)
        except SinkError:
            self.close()
            raise

    def frontier(self) -> int | None:
        """Return the offset from which on nothing is committed yet; None if nothing is at all.

        The broker keeps it as the group's committed offset. Where it forgot (by default after a
        week), the last committed message tells.
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
            kept = consumer.committed(
                self._source, metadata=True, timeout_ms=int(_ANSWER_WITHIN * 1000)
            )
            if kept is not None and kept.metadata == self._topic_id:
                return int(kept.offset)
            return self._after_last_published(consumer)
        except KafkaError as error:
            raise SinkError(f"topic {self._topic}: {error}") from error
        finally:
            consumer.close()

    def publish(self, offset: int, key: str | None, value: bytes) -> None:
        """Queue the message that came of the source's record at an offset.

        The frontier moves with it in one: a flush by another thread sees both or neither.
        """
        with self._lock:
            self._raise_if_failed()
            if not self._n_open:
                self._attempt(self._producer.begin_transaction)
                self._opened_at = monotonic()
            self._n_open += 1
            self._send(key, value, [(_TOPIC_ID, self._topic_id.encode())])
            self._next_offset = offset + 1
            if self._n_open >= _LARGEST or monotonic() - self._opened_at > _LONGEST:
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
        read = OffsetAndMetadata(self._next_offset, self._topic_id, -1)
        self._producer.send_offsets_to_transaction({self._source: read}, self._id)
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

    def _after_last_published(self, consumer: KafkaConsumer) -> int | None:
        """Return the offset after that of the last committed message of our source."""
        here = TopicPartition(self._topic, 0)
        consumer.assign([here])
        first = consumer.beginning_offsets([here])[here]
        end = consumer.end_offsets([here])[here]
        step = 1_000
        while end > first:
            begin = max(first, end - step)
            consumer.seek(here, begin)
            last = None
            while (consumer.position(here) or begin) < end:
                for message in consumer.poll(timeout_ms=500).get(here, ()):
                    if message.offset < end and self._is_ours(message):
                        last = json.loads(message.value)["offset"]
            if last is not None:
                return int(last) + 1
            end, step = begin, 2 * step
        return None

    def _is_ours(self, message: Any) -> bool:
        if (_TOPIC_ID, self._topic_id.encode()) not in message.headers:
            return False
        told = json.loads(message.value)
        return (told["stream"], told["partition"]) == tuple(self._source)
