"""`KafkaTransactionalSink` on a real broker: exactly once, with the committed offset."""

import json
import threading
import time
from contextlib import ExitStack, closing, suppress

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, TopicPartition
from support.kafka_topics import create_topic, produce, read_topic

from iln_stream.errors import OtherRunError, SinkError
from iln_stream.streams import StreamOptions, stream_at
from iln_stream.streams.kafka import KafkaTransactionalSink

TOPIC_ID = "1b4e28ba-2fa1-11d2-883f-0016d3cca427"


@pytest.fixture
def source(broker):
    """The topic of the source."""
    return create_topic(broker.bootstrap, partitions=2)


@pytest.fixture(params=["kafka-python", "confluent"])
def client(request):
    """The library of the producer."""
    return request.param


WITH_DEFAULT_CLIENT = pytest.mark.parametrize(
    "client", ["kafka-python", pytest.param("confluent", marks=pytest.mark.thorough)], indirect=True
)
"""What the broker does more than the client, `make test` has with the default client only."""


@pytest.fixture
def open_sink(broker, topic, source, client):
    """Opens sinks to one topic of predictions, by default for the source's partition 1."""
    with ExitStack() as opened:

        def open_one(partition=1, topic_id=TOPIC_ID):
            sink = KafkaTransactionalSink(
                topic, source, [partition], str(partition), topic_id, bootstrap=broker.bootstrap,
                client=client,
            )  # fmt: skip
            opened.callback(_close_quietly, sink)
            return sink

        yield open_one


def _close_quietly(sink):
    with suppress(SinkError):
        sink.close()


def send(sink, source, offsets, partition=1):
    for offset in offsets:
        message = {"stream": source, "partition": partition, "offset": offset}
        sink.publish(partition, offset, None, json.dumps(message).encode())


def offsets(broker, topic):
    """Return what a reader of committed records sees."""
    return [json.loads(record.value)["offset"] for record in read_topic(broker.bootstrap, topic)]


def test_flush_moves_the_committed_offset(broker, topic, source, open_sink):
    """A flush makes messages visible and moves the committed offset behind them."""
    sink = open_sink()
    assert sink.committed() == {}
    send(sink, source, range(3, 8))
    assert offsets(broker, topic) == []
    sink.flush()
    assert offsets(broker, topic) == [3, 4, 5, 6, 7]
    assert sink.committed() == {1: 8}


def test_open_transaction_of_a_killed_process(broker, topic, source, open_sink):
    """The next sink for the partition aborts it and starts at the committed offset."""
    killed = open_sink()
    send(killed, source, range(5))
    killed.flush()
    send(killed, source, range(5, 9))
    wait_until_sent(broker, topic, 9)  # after the marker of the first transaction, at 5
    following = open_sink()
    assert following.committed() == {1: 5}
    send(following, source, range(5, 7))
    following.flush()
    assert offsets(broker, topic) == [0, 1, 2, 3, 4, 5, 6]


def test_a_zombie_can_write_no_more(broker, topic, source, open_sink):
    """A process that was wrongly thought dead is refused at its next commit, with the remedy."""
    zombie = open_sink()
    send(zombie, source, range(2))
    following = open_sink()
    with pytest.raises(OtherRunError, match=f"topic {topic}: another process now publishes"):
        zombie.flush()
    send(following, source, range(2))
    following.flush()
    assert offsets(broker, topic) == [0, 1]


@WITH_DEFAULT_CLIENT
def test_committed_offsets_of_two_partitions(broker, source, open_sink):
    """Sinks for two partitions have separate offsets and do not fence each other off."""
    first, second = open_sink(partition=0), open_sink(partition=1)
    send(first, source, range(4), partition=0)
    send(second, source, range(9), partition=1)
    first.flush()
    second.flush()
    assert (first.committed(), second.committed()) == ({0: 4}, {1: 9})


def delete_committed_offsets(broker, source, partitions):
    """Delete the committed offsets, as the broker does after a week."""
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap) as admin:
        for group in admin.list_groups():
            if source in group["group_id"]:
                admin.delete_group_offsets(
                    group["group_id"], [TopicPartition(source, each) for each in partitions]
                )


def wait_until_sent(broker, topic, offset):
    """Return when the broker has the record at an offset, committed or not."""
    here = TopicPartition(topic, 0)
    consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap, isolation_level="read_uncommitted")
    deadline = time.monotonic() + 30
    while consumer.end_offsets([here])[here] <= offset:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    consumer.close()


@WITH_DEFAULT_CLIENT
def test_a_deleted_committed_offset_is_found_again(broker, topic, source, open_sink):
    """If the broker deleted the offset, the sink finds it from the last committed message."""
    sink, other = open_sink(partition=1), open_sink(partition=0)
    send(sink, source, range(7))
    sink.flush()
    send(other, source, range(3_000), partition=0)
    other.flush()
    produce(broker.bootstrap, topic, [(None, b"somebody else's")])
    delete_committed_offsets(broker, source, [1])
    assert open_sink(partition=1).committed() == {1: 7}


def test_a_deleted_committed_offset_of_one_kind(broker, topic, source):
    """Of several messages of the same records, each kind finds the last one of its own."""
    scheme = stream_at(f"kafka:{topic}", StreamOptions(bootstrap=broker.bootstrap))
    read = stream_at(f"kafka:{source}", StreamOptions(bootstrap=broker.bootstrap))
    with ExitStack() as opened:
        log = opened.enter_context(closing(read.log(1, "earliest")))
        for kind, n in (("@24", 7), ("@1", 9)):
            sink = scheme.transactional_sink(log, f"1{kind}", kind)
            opened.callback(_close_quietly, sink)
            send(sink, source, range(n))
            sink.flush()
        delete_committed_offsets(broker, source, [1])
        again = scheme.transactional_sink(log, "1@24", "@24")
        opened.callback(_close_quietly, again)
        assert again.committed() == {1: 7}


@WITH_DEFAULT_CLIENT
@pytest.mark.parametrize("why", ["deleted", "of another topic id"])
def test_aborted_messages_are_not_found_again(broker, topic, source, open_sink, why):
    """When the sink looks for the committed offset in the messages, it ignores those of an aborted
    transaction: no reader saw them, so they have to be published again."""
    killed = open_sink()
    send(killed, source, range(7))
    killed.flush()
    send(killed, source, range(7, 10))
    wait_until_sent(broker, topic, 10)  # after the marker of the first transaction, at 7
    following = open_sink()  # aborts that
    if why == "deleted":
        delete_committed_offsets(broker, source, [1])
    else:
        other = open_sink(topic_id="00000000-2fa1-11d2-883f-0016d3cca427")
        send(other, source, range(2))
        other.flush()
    assert following.committed() == {1: 7}


@WITH_DEFAULT_CLIENT
def test_another_topic_of_the_same_name(broker, source, open_sink):
    """Messages from a deleted topic do not count for a new topic of the same name."""
    sink = open_sink()
    send(sink, source, range(7))
    sink.flush()
    another = "00000000-2fa1-11d2-883f-0016d3cca427"
    assert open_sink(topic_id=another).committed() == {}
    delete_committed_offsets(broker, source, [1])
    assert open_sink(topic_id=another).committed() == {}


class Slow(dict[int, int]):
    """Is slow to store an offset."""

    def __setitem__(self, partition, offset):
        time.sleep(0.005)
        super().__setitem__(partition, offset)


class Hesitating(KafkaTransactionalSink):
    """Is slow between a message and its offset, and records its commits."""

    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self._read = Slow()

    def _send(self, messages, *others, **more):
        self.__dict__["sent"] = json.loads(messages[-1][-1])["offset"]
        super()._send(messages, *others, **more)

    def _commit(self):
        self.__dict__.setdefault("commits", []).append(
            (self.__dict__["sent"], self._read.get(1, 0))
        )
        super()._commit()


def test_flush_during_publish(broker, topic, source, client):
    """A flush by a snapshot's thread during `publish` commits messages with their offsets: one that
    is committed without its offset would be published again after a kill."""
    sink = Hesitating(topic, source, [1], "1", TOPIC_ID, bootstrap=broker.bootstrap, client=client)
    done = threading.Event()

    def flush_on():
        while not done.is_set():
            sink.flush()

    flushing = threading.Thread(target=flush_on)
    flushing.start()
    try:
        for offset in range(40):
            send(sink, source, range(offset, offset + 1))
            time.sleep(0.001)
    finally:
        done.set()
        flushing.join()
    sink.close()
    commits = sink.__dict__["commits"]
    assert len(commits) > 3
    assert [after for _, after in commits] == [last + 1 for last, _ in commits]
    assert offsets(broker, topic) == list(range(40))


@WITH_DEFAULT_CLIENT
def test_large_transactions_are_cut(broker, topic, source, open_sink):
    """A stream without pauses is committed in several transactions."""
    sink = open_sink()
    send(sink, source, range(4_500))
    assert 2_000 <= len(offsets(broker, topic)) <= 4_500
    sink.close()
    assert offsets(broker, topic) == list(range(4_500))


@WITH_DEFAULT_CLIENT
@pytest.mark.parametrize("n_partitions", [pytest.param(1, marks=pytest.mark.thorough), 2])
def test_one_reader_of_several_partitions(broker, source, client, n_partitions):
    """A reader of several partitions commits the offset of each with its messages, which go to the
    partition of their record if there is one; if the broker deleted the offsets, they are found
    again in all partitions."""
    topic = create_topic(broker.bootstrap, n_partitions)

    def open_all():
        return KafkaTransactionalSink(
            topic, source, [0, 1], "all", TOPIC_ID, bootstrap=broker.bootstrap,
            n_partitions=n_partitions, client=client,
        )  # fmt: skip

    sink = open_all()
    for partition in (0, 1):
        send(sink, source, range(4 + 5 * partition), partition=partition)
    sink.flush()
    send(sink, source, range(4, 6), partition=0)
    sink.close()
    for partition in range(n_partitions):
        found = [json.loads(each.value) for each in read_topic(broker.bootstrap, topic, partition)]
        expected = {0, 1} if n_partitions == 1 else {partition}
        assert {each["partition"] for each in found} == expected
    sink = open_all()
    assert sink.committed() == {0: 6, 1: 9}
    delete_committed_offsets(broker, source, [0, 1])
    sink.close()
    following = open_all()
    assert following.committed() == {0: 6, 1: 9}
    following.close()


def test_a_topic_that_got_more_partitions(broker, source, topic):
    """Messages of a topic that had one partition are found there, even if it has more now."""
    before = KafkaTransactionalSink(topic, source, [1], "1", TOPIC_ID, bootstrap=broker.bootstrap)
    send(before, source, range(3), partition=1)
    before.close()
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap) as admin:
        admin.create_partitions({topic: 2})
    delete_committed_offsets(broker, source, [1])
    after = KafkaTransactionalSink(
        topic, source, [1], "1", TOPIC_ID, bootstrap=broker.bootstrap, n_partitions=2
    )
    assert after.committed() == {1: 3}
    after.close()
