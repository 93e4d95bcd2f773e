"""`KafkaScheme`: topics as addresses, checked without a broker."""

import pytest

from iln_stream.errors import SourceError
from iln_stream.streams import StreamOptions, stream_at


def at(address, **options):
    return stream_at(address, StreamOptions(**options))


def test_addresses():
    """Siblings and dead letters are topics with a suffix; the peer is the broker."""
    stream = at("kafka:events", bootstrap="here:9092")
    assert stream.sibling("replayed") == "kafka:events-replayed"
    assert stream.dead_letters() == "kafka:events-dead-letters"
    assert stream.peer == "the broker at here:9092"


@pytest.mark.parametrize(
    ("address", "options", "message"),
    [
        ("kafka://host/topic", {}, "is not a topic's name"),
        ("kafka:" + "x" * 250, {}, "is not a topic's name"),
        ("kafka:events", {"limit": 5}, "limit: a Kafka source has none; set stop_at_end"),
    ],
)
def test_refused(address, options, message):
    """Invalid names and options of other sources are refused."""
    with pytest.raises(SourceError, match=message):
        at(address, **options).check()


@pytest.mark.parametrize("client", ["kafka-python", "confluent"])
def test_start_is_required(client):
    """A log without a start is refused before a broker is asked."""
    with pytest.raises(SourceError, match="start: choose where in topic events to begin"):
        at("kafka:events", kafka_client=client).log(0, None)
