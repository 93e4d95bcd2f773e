"""Predictions to a Kafka topic, at least once; notices another run that publishes the same ones."""

import json
import logging
from collections.abc import Mapping
from contextlib import closing
from time import monotonic
from typing import Any

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from iln_stream.streams.kafka.connection import CONNECTION, known_to
from iln_stream.streams.kafka.producer import KafkaSink

log = logging.getLogger(__name__)

_LAST = 1_000
"""Messages of each partition that are looked at."""

_WITHIN_SECONDS = 5.0
"""Longest look."""


class KafkaPredictionSink(KafkaSink):
    """A `KafkaSink` that warns if another run publishes predictions of the same records.

    A run publishes the predictions of a partition in the order of its records. So if the latest
    messages since its first flush are not in their order, more than one run wrote them. Without the
    right to read the topic, nobody looks.

    Parameters
    ----------
    topic, bootstrap, options, n_partitions, client
        As in `KafkaSink`.
    look_after
        Seconds from one look to the next, which a flush makes.

    """

    def __init__(
        self,
        topic: str,
        *,
        bootstrap: str,
        options: Mapping[str, Any] | None = None,
        look_after: float = 60.0,
        **more: Any,
    ) -> None:
        super().__init__(topic, bootstrap=bootstrap, options=options, **more)
        self._consumer_options = {
            **CONNECTION,
            **known_to(KafkaConsumer, options or {}),
            "bootstrap_servers": bootstrap.split(","),
            "group_id": None,
            "enable_auto_commit": False,
            "auto_offset_reset": "none",
            "isolation_level": "read_committed",
        }
        self._look_after = look_after
        self._looks_at: float | None = monotonic()
        self._began: dict[TopicPartition, int] = {}
        self._ours: set[int] = set()  # partitions of the source, of which this run publishes

    def write_to(self, partition: int, key: str | None, value: bytes) -> None:
        """Queue one message for the partition of this number, or else for partition 0."""
        self._ours.add(partition)
        super().write_to(partition, key, value)

    def flush(self) -> None:
        """Wait until the brokers have stored all written messages; look, if it is time."""
        super().flush()
        if self._looks_at is None or monotonic() < self._looks_at:
            return
        self._looks_at = monotonic() + self._look_after
        try:
            with closing(KafkaConsumer(**self._consumer_options)) as consumer:
                self._look(consumer)
        except (KafkaError, OSError) as error:
            log.debug("topic %s was not looked at: %s", self._topic, error)

    def _look(self, consumer: KafkaConsumer) -> None:
        here = [TopicPartition(self._topic, p) for p in range(max(self._n_partitions, 1))]
        ends = consumer.end_offsets(here)
        if not self._began:
            self._began = ends
            return
        until = monotonic() + _WITHIN_SECONDS
        ours = frozenset(self._ours)  # the loop may add to it meanwhile
        for place in {here[self._target(partition)] for partition in ours}:
            consumer.assign([place])
            consumer.seek(place, max(self._began[place], ends[place] - _LAST))
            latest: dict[tuple[Any, ...], int] = {}
            while consumer.position(place) < ends[place] and monotonic() < until:
                for message in consumer.poll(timeout_ms=500).get(place, ()):
                    found = _of_prediction(message.value)
                    if found is None or found[0][1] not in ours:
                        continue
                    of, offset = found
                    if offset <= latest.get(of, -1):
                        self._warn(of)
                        return
                    latest[of] = offset

    def _warn(self, of: tuple[Any, ...]) -> None:
        self._looks_at = None
        log.warning(
            "topic %s: another run publishes the predictions of %s, partition %s, too, so readers "
            "see them twice: stop one of them, or give each its own topic",
            self._topic, *of[:2],
        )  # fmt: skip


def _of_prediction(value: bytes | None) -> tuple[tuple[Any, ...], int] | None:
    """Return what a message is the prediction of, and its record's offset; None: it is none."""
    try:
        found = json.loads(value or b"")
        return (
            (found["stream"], found["partition"], found.get("horizon")),
            int(found["offset"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
