"""`kafka_options`: each client gets those that it knows."""

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from iln_stream.streams.kafka import CONNECTION, known_to, require_known


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
