"""Predictions to a Kafka topic, at least once; notices another run that publishes the same ones."""

import json
import logging
import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from time import monotonic
from typing import Any

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from iln_stream.errors import IlnError
from iln_stream.streams.base import PlacedMessage
from iln_stream.streams.kafka.consumer import open_consumer
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
    right to read the topic, nobody looks. There are `look_after` seconds from one look to the next,
    which a flush makes.
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
        self._open_consumer = partial(open_consumer, bootstrap, options or {})
        self._look_after, self._looks_at = look_after, monotonic()
        self._began: dict[TopicPartition, int] = {}
        self._ours: set[int] = set()  # partitions of the source, of which this run publishes

    def write_all(self, messages: Sequence[PlacedMessage]) -> None:
        self._ours.update(partition for partition, _, _ in messages)
        super().write_all(messages)

    def flush(self) -> None:
        """Wait until the brokers have stored all written messages; look, if it is time."""
        super().flush()
        if monotonic() < self._looks_at:
            return
        self._looks_at = monotonic() + self._look_after
        try:
            with closing(self._open_consumer()) as consumer:
                twice = self._published_twice(consumer)
        except (IlnError, KafkaError, OSError) as error:
            log.debug("topic %s was not looked at: %s", self._topic, error)
            return
        if twice is not None:
            self._looks_at = math.inf
            log.warning(
                "topic %s: another run publishes the predictions of %s, partition %s, too, so "
                "readers see them twice: stop one of them, or give each its own topic",
                self._topic, *twice,
            )  # fmt: skip

    def _published_twice(self, consumer: KafkaConsumer) -> tuple[str, int] | None:
        """Return stream and partition of records whose predictions are not in order; None: all are.

        The first look only notes where this run begins.
        """
        here = [TopicPartition(self._topic, p) for p in range(max(self._n_partitions, 1))]
        ends = consumer.end_offsets(here)
        if not self._began:
            self._began = ends
            return None
        until = monotonic() + _WITHIN_SECONDS
        ours = frozenset(self._ours)  # the loop may add to it meanwhile
        for place in {here[self._target(partition)] for partition in ours}:
            consumer.assign([place])
            consumer.seek(place, max(self._began[place], ends[place] - _LAST))
            latest: dict[tuple[Any, ...], int] = {}
            while consumer.position(place) < ends[place] and monotonic() < until:
                for message in consumer.poll(timeout_ms=500).get(place, ()):
                    try:
                        found = json.loads(message.value or b"")
                        of = found["stream"], found["partition"], found.get("horizon")
                        offset = int(found["offset"])
                    except (ValueError, KeyError, TypeError, AttributeError):
                        continue  # it is no prediction
                    if of[1] in ours and offset <= latest.get(of, -1):
                        return of[:2]
                    latest[of] = offset
        return None
