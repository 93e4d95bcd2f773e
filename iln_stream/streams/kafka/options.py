"""`kafka_options`: given once, passed to whichever of kafka-python's clients knows them."""

from collections.abc import Mapping
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

CONNECTION: dict[str, Any] = {
    "bootstrap_timeout_ms": 10_000,
    "reconnect_backoff_max_ms": 1_000,  # kafka-python's 30 s would outlast most outages
}
"""What we change in every client's defaults."""


def require_known(options: Mapping[str, Any]) -> None:
    """Refuse what no client knows: a misspelt option must not be lost.

    Raises
    ------
    ValueError
        Naming the options.

    """
    clients = (KafkaConsumer, KafkaProducer, KafkaAdminClient)
    known = {name for client in clients for name in client.DEFAULT_CONFIG}
    if unknown := sorted(options.keys() - known):
        raise ValueError(f"kafka-python has no {', '.join(unknown)}")


def known_to(client: type, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a client knows; they share the connection's."""
    known = client.DEFAULT_CONFIG  # type: ignore[attr-defined]
    return {name: value for name, value in options.items() if name in known}
