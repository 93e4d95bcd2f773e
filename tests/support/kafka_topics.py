"""Creates, fills and reads topics on a test broker."""

import time
import uuid
from collections.abc import Iterable, Mapping
from typing import Self

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.consumer.fetcher import ConsumerRecord

KeyedRecord = tuple[bytes | None, bytes | None]

_DEADLINE_SECONDS = 30.0


def unique_topic(prefix: str = "test") -> str:
    """A topic name that no other test uses."""
    return f"{prefix}-{uuid.uuid4().hex[:12]}"


def create_topic(
    bootstrap: str,
    partitions: int = 1,
    *,
    name: str | None = None,
    configs: Mapping[str, str] | None = None,
) -> str:
    """Create a topic, wait until each partition has a leader, and return its name."""
    topic = name or unique_topic()
    options = {"num_partitions": partitions, "replication_factor": 1, "configs": configs or {}}
    with KafkaAdminClient(bootstrap_servers=bootstrap) as admin:
        admin.create_topics({topic: options}, wait_for_metadata=True)
    return topic


def produce(
    bootstrap: str, topic: str, records: Iterable[KeyedRecord], *, partition: int = 0
) -> list[int]:
    """Append records to one partition and return their offsets."""
    producer = KafkaProducer(bootstrap_servers=bootstrap, linger_ms=5)
    try:
        return _send_all(producer, topic, records, partition)
    finally:
        producer.close(timeout=_DEADLINE_SECONDS)


def read_topic(bootstrap: str, topic: str, partition: int = 0) -> list[ConsumerRecord]:
    """Return all records in a partition of a topic, as a consumer reads them.

    A commit is answered before its marker is in the partition: a transaction that is ending is
    waited for, one that stays open is not.
    """
    here = TopicPartition(topic, partition)
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, isolation_level="read_committed")
    found: list[ConsumerRecord] = []
    try:
        consumer.assign([here])
        consumer.seek(here, 0)
        deadline = time.monotonic() + 3
        end = consumer.end_offsets([here])[here]
        while True:
            found += consumer.poll(timeout_ms=200).get(here, ())
            position = consumer.position(here)
            ending = (consumer.highwater(here) or 0) > position and time.monotonic() < deadline
            if position >= end and not ending:
                break
    finally:
        consumer.close()
    return found


class TransactionalWriter:
    """Appends each batch in its own transaction, which commits or aborts."""

    def __init__(self, bootstrap: str, transactional_id: str | None = None) -> None:
        self._producer = KafkaProducer(
            bootstrap_servers=bootstrap,
            transactional_id=transactional_id or unique_topic("writer"),
            linger_ms=5,
        )
        self._producer.init_transactions()

    def commit(
        self, topic: str, records: Iterable[KeyedRecord], *, partition: int = 0
    ) -> list[int]:
        """Append one committed batch and return its offsets."""
        offsets = self.leave_open(topic, records, partition=partition)
        self._producer.commit_transaction()
        return offsets

    def abort(self, topic: str, records: Iterable[KeyedRecord], *, partition: int = 0) -> list[int]:
        """Append one batch that read_committed readers never see and return its offsets."""
        offsets = self.leave_open(topic, records, partition=partition)
        self._producer.abort_transaction()
        return offsets

    def leave_open(
        self, topic: str, records: Iterable[KeyedRecord], *, partition: int = 0
    ) -> list[int]:
        """Append a batch whose transaction stays open, as a crashed writer leaves it."""
        self._producer.begin_transaction()
        return _send_all(self._producer, topic, records, partition)

    def close(self) -> None:
        """Close the producer; a transaction still open is left to the broker."""
        self._producer.close(timeout=_DEADLINE_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _send_all(
    producer: KafkaProducer, topic: str, records: Iterable[KeyedRecord], partition: int
) -> list[int]:
    sent = [producer.send(topic, value, key=key, partition=partition) for key, value in records]
    producer.flush(timeout=_DEADLINE_SECONDS)
    return [future.get(timeout=_DEADLINE_SECONDS).offset for future in sent]
