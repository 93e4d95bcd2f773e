"""A broker that requires TLS and a password: `kafka_options` reach every client."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from support.kafka_broker import KafkaBroker
from support.kafka_topics import create_topic, produce, read_topic
from support.tls import certificate

from iln_stream.errors import IlnError
from iln_stream.service import Service, Settings

EVENTS = [(None, b'{"x": {"a": %d}, "y": %d}' % (i % 5, i % 3)) for i in range(50)]


class Secured(NamedTuple):
    """A broker, its second listener, and the options for that listener."""

    broker: KafkaBroker
    bootstrap: str
    options: dict[str, object]


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """A broker with a SASL_SSL listener and a plain one."""
    folder = tmp_path_factory.mktemp("secured")
    key, cert = certificate(folder)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    overrides = {
        "listeners": "PLAINTEXT://127.0.0.1:{broker_port},CONTROLLER://127.0.0.1:{controller_port},"
        f"SECURED://127.0.0.1:{port}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{{broker_port}},SECURED://127.0.0.1:{port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,"
        "SECURED:SASL_SSL",
        "listener.name.secured.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.secured.plain.sasl.jaas.config": "org.apache.kafka.common.security.plain."
        'PlainLoginModule required user_iln="secret";',
        "listener.name.secured.ssl.keystore.type": "PEM",
        "listener.name.secured.ssl.keystore.key": key.replace("\n", "\\n"),
        "listener.name.secured.ssl.keystore.certificate.chain": cert.read_text().replace(
            "\n", "\\n"
        ),
    }
    options = {
        "security_protocol": "SASL_SSL",
        "ssl_cafile": str(cert),
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "iln",
        "sasl_plain_password": "secret",
    }
    with KafkaBroker(folder, overrides, borrow=False) as broker:
        yield Secured(broker, f"127.0.0.1:{port}", options)


def settings(secured: Secured, topic: str, folder: Path, **options: object) -> Settings:
    return Settings.load(
        bootstrap=secured.bootstrap,
        kafka_options={**secured.options, **options},
        topic=topic,
        start="earliest",
        stop_at_end=True,
        predictions=f"kafka:{topic}-p",
        transactional=True,
        snapshots=str(folder),
        metrics_port=0,
    )


def test_every_client_connects(secured: Secured, tmp_path: Path) -> None:
    """Source, sinks, transactions and committed offsets work over TLS with a password: a second run
    continues and publishes nothing twice."""
    topic = create_topic(secured.broker.bootstrap)
    for _ in range(2):
        produce(secured.broker.bootstrap, topic, EVENTS)
        Service(settings(secured, topic, tmp_path)).run()
    found = [json.loads(r.value) for r in read_topic(secured.broker.bootstrap, f"{topic}-p")]
    assert [each["offset"] for each in found] == list(range(100))


def test_a_wrong_password_is_an_error(secured: Secured, tmp_path: Path) -> None:
    """A wrong password is an error, whose message does not have the password."""
    topic = create_topic(secured.broker.bootstrap)
    with pytest.raises(IlnError, match="are kafka_options right") as caught:
        Service(
            settings(
                secured,
                topic,
                tmp_path,
                sasl_plain_password="hunter2",
                bootstrap_timeout_ms=3_000,
            )
        )
    assert "hunter2" not in str(caught.value)
