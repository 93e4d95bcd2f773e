"""The transactional sink, on a real broker: committed once, and known up to where."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any, Protocol

import pytest
from kafka import KafkaAdminClient
from support.kafka_broker import KafkaBroker
from support.kafka_topics import create_topic, produce, read_topic

from iln_stream.errors import SinkError
from iln_stream.streams.kafka import TransactionalSink

TOPIC_ID = "1b4e28ba-2fa1-11d2-883f-0016d3cca427"


class Open(Protocol):
    def __call__(self, **arguments: Any) -> TransactionalSink: ...


@pytest.fixture
def source(broker: KafkaBroker) -> str:
    """The topic that predictions are of."""
    return create_topic(broker.bootstrap, partitions=2)


@pytest.fixture
def open_sink(broker: KafkaBroker, topic: str, source: str) -> Iterator[Open]:
    """Opens sinks to one topic of predictions, by default of the source's partition 1."""
    with ExitStack() as opened:

        def open_one(partition: int = 1, topic_id: str = TOPIC_ID) -> TransactionalSink:
            sink = TransactionalSink(
                topic, source, [partition], str(partition), topic_id, bootstrap=broker.bootstrap
            )
            opened.callback(_close_quietly, sink)
            return sink

        yield open_one


def _close_quietly(sink: TransactionalSink) -> None:
    with suppress(SinkError):
        sink.close()


def send(sink: TransactionalSink, source: str, offsets: range, partition: int = 1) -> None:
    for offset in offsets:
        told = {"stream": source, "partition": partition, "offset": offset}
        sink.publish(partition, offset, None, json.dumps(told).encode())


def offsets(broker: KafkaBroker, topic: str) -> list[int]:
    """What a reader of committed records sees."""
    return [json.loads(record.value)["offset"] for record in read_topic(broker.bootstrap, topic)]


def test_what_is_committed_is_before_the_frontier(
    broker: KafkaBroker, topic: str, source: str, open_sink: Open
) -> None:
    """A flush makes messages seen and moves the frontier behind them, at once."""
    sink = open_sink()
    assert sink.committed() == {}
    send(sink, source, range(3, 8))
    assert offsets(broker, topic) == []
    sink.flush()
    assert offsets(broker, topic) == [3, 4, 5, 6, 7]
    assert sink.committed() == {1: 8}


def test_what_a_killed_process_left_open_never_was(
    broker: KafkaBroker, topic: str, source: str, open_sink: Open
) -> None:
    """The next sink of the same partition aborts it, and goes on from the frontier before."""
    killed = open_sink()
    send(killed, source, range(5))
    killed.flush()
    send(killed, source, range(5, 9))
    killed._producer.flush()  # on the broker, and not committed
    following = open_sink()
    assert following.committed() == {1: 5}
    send(following, source, range(5, 7))
    following.flush()
    assert offsets(broker, topic) == [0, 1, 2, 3, 4, 5, 6]


def test_a_zombie_can_write_no_more(
    broker: KafkaBroker, topic: str, source: str, open_sink: Open
) -> None:
    """A process that was thought dead and goes on fails at its next commit."""
    zombie = open_sink()
    send(zombie, source, range(2))
    following = open_sink()
    with pytest.raises(SinkError, match=f"topic {topic} did not take a message"):
        zombie.flush()
    send(following, source, range(2))
    following.flush()
    assert offsets(broker, topic) == [0, 1]


def test_partitions_have_frontiers_of_their_own(
    broker: KafkaBroker, source: str, open_sink: Open
) -> None:
    """Learners of two partitions don't fence each other off."""
    first, second = open_sink(partition=0), open_sink(partition=1)
    send(first, source, range(4), partition=0)
    send(second, source, range(9), partition=1)
    first.flush()
    second.flush()
    assert (first.committed(), second.committed()) == ({0: 4}, {1: 9})


def forget_frontier(broker: KafkaBroker, sink: TransactionalSink) -> None:
    """As the broker does by itself after a week."""
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap) as admin:
        admin.delete_group_offsets(sink._id, sink._partitions)


def test_a_forgotten_frontier_is_found_again(
    broker: KafkaBroker, topic: str, source: str, open_sink: Open
) -> None:
    """Where the broker forgot the offset, the last committed message tells, however far back."""
    sink, other = open_sink(partition=1), open_sink(partition=0)
    send(sink, source, range(7))
    sink.flush()
    send(other, source, range(3_000), partition=0)
    other.flush()
    produce(broker.bootstrap, topic, [(None, b"somebody else's")])
    forget_frontier(broker, sink)
    assert open_sink(partition=1).committed() == {1: 7}


@pytest.mark.parametrize("why", ["forgotten", "of another topic id"])
def test_what_was_aborted_is_not_found_again(
    broker: KafkaBroker, source: str, open_sink: Open, why: str
) -> None:
    """Where only the messages tell the frontier, those of an aborted transaction at the end of the
    topic don't count: nobody saw them, so they have to be published again."""
    killed = open_sink()
    send(killed, source, range(7))
    killed.flush()
    send(killed, source, range(7, 10))
    killed._producer.flush()  # on the broker, and not committed
    following = open_sink()  # aborts that
    if why == "forgotten":
        forget_frontier(broker, following)
    else:
        other = open_sink(topic_id="00000000-2fa1-11d2-883f-0016d3cca427")
        send(other, source, range(2))
        other.flush()
    assert following.committed() == {1: 7}


@pytest.mark.parametrize("forgotten", [False, True])
def test_another_topic_of_the_same_name(
    broker: KafkaBroker, source: str, open_sink: Open, forgotten: bool
) -> None:
    """What was published of a topic that was deleted says nothing about the one created anew."""
    sink = open_sink()
    send(sink, source, range(7))
    sink.flush()
    if forgotten:
        forget_frontier(broker, sink)
    assert open_sink(topic_id="00000000-2fa1-11d2-883f-0016d3cca427").committed() == {}


class Slow(dict[int, int]):
    """Takes its time to note a position."""

    def __setitem__(self, partition: int, offset: int) -> None:
        time.sleep(0.005)
        super().__setitem__(partition, offset)


class Hesitating(TransactionalSink):
    """Takes its time between a message and the offset that goes with it, and tells its commits."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._read = Slow()

    def _send(self, key: str | None, value: bytes, headers: Any = ()) -> None:
        self.__dict__["sent"] = json.loads(value)["offset"]
        super()._send(key, value, headers)

    def _commit(self) -> None:
        self.__dict__.setdefault("commits", []).append(
            (self.__dict__["sent"], self._read.get(1, 0))
        )
        super()._commit()


def test_a_flush_beside_the_writing_splits_nothing(
    broker: KafkaBroker, topic: str, source: str
) -> None:
    """However a snapshot's thread flushes while the loop publishes, what is committed ends where
    the frontier is: a message that is committed before it moved would come again after a kill."""
    sink = Hesitating(topic, source, [1], "1", TOPIC_ID, bootstrap=broker.bootstrap)
    done = threading.Event()

    def flush_on() -> None:
        while not done.is_set():
            sink.flush()

    flushing = threading.Thread(target=flush_on)
    flushing.start()
    for offset in range(40):
        send(sink, source, range(offset, offset + 1))
        time.sleep(0.001)
    done.set()
    flushing.join()
    sink.close()
    commits = sink.__dict__["commits"]
    assert len(commits) > 3
    assert [after for _, after in commits] == [last + 1 for last, _ in commits]
    assert offsets(broker, topic) == list(range(40))


def test_large_transactions_are_cut(
    broker: KafkaBroker, topic: str, source: str, open_sink: Open
) -> None:
    """A stream without pause is committed on its way."""
    sink = open_sink()
    send(sink, source, range(4_500))
    assert 2_000 <= len(offsets(broker, topic)) <= 4_500
    sink.close()
    assert offsets(broker, topic) == list(range(4_500))


def test_one_reader_of_several_partitions(
    broker: KafkaBroker, topic: str, source: str, open_sink: Open
) -> None:
    """A reader of several partitions commits how far it read each, with its messages; forgotten, it
    is found again of each."""

    def open_all() -> TransactionalSink:
        return TransactionalSink(topic, source, [0, 1], "all", TOPIC_ID, bootstrap=broker.bootstrap)

    sink = open_all()
    send(sink, source, range(4), partition=0)
    send(sink, source, range(9), partition=1)
    sink.flush()
    send(sink, source, range(4, 6), partition=0)
    sink.close()
    sink = open_all()
    assert sink.committed() == {0: 6, 1: 9}
    forget_frontier(broker, sink)
    sink.close()
    following = open_all()
    assert following.committed() == {0: 6, 1: 9}
    following.close()
