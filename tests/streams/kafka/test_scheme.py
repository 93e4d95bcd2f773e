"""Topics as addresses, and `kafka_options`: each client gets those that it knows."""

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from iln_stream.errors import SourceError
from iln_stream.streams import StreamOptions, stream_at
from iln_stream.streams.kafka import CONNECTION, known_to, require_known


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


def test_known_to():
    """A client gets the options of the connection and its own, and no others."""
    options = {"security_protocol": "SSL", "linger_ms": 5, "max_poll_records": 7}
    assert known_to(KafkaProducer, options) == {"security_protocol": "SSL", "linger_ms": 5}
    assert known_to(KafkaConsumer, options) == {"security_protocol": "SSL", "max_poll_records": 7}
    assert known_to(KafkaAdminClient, options) == {"security_protocol": "SSL"}


def test_unknown_options():
    """Options that no client knows are refused, all by name."""
    require_known({"linger_ms": 5, "max_poll_records": 7})
    with pytest.raises(ValueError, match=r"kafka-python has no lingerms, max_poll_record$"):
        require_known({"max_poll_record": 7, "linger_ms": 5, "lingerms": 5})


@pytest.mark.parametrize("client", [KafkaAdminClient, KafkaConsumer, KafkaProducer])
def test_changed_defaults(client):
    """All clients know the options whose defaults are changed."""
    assert known_to(client, CONNECTION) == CONNECTION
