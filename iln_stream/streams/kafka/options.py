"""`kafka_options`: set once; each client of kafka-python gets those that it knows."""

from collections.abc import Mapping
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

CONNECTION: dict[str, Any] = {
    "bootstrap_timeout_ms": 10_000,
    "reconnect_backoff_max_ms": 1_000,  # the default of 30 s outlasts most outages
}
"""Changed defaults of all clients."""


def require_known(options: Mapping[str, Any]) -> None:
    """Refuse options that no client knows, such as misspelt ones.

    Raises
    ------
    ValueError
        When there are such options; the message has their names.

    """
    clients = (KafkaConsumer, KafkaProducer, KafkaAdminClient)
    known = {name for client in clients for name in client.DEFAULT_CONFIG}
    if unknown := sorted(options.keys() - known):
        raise ValueError(f"kafka-python has no {', '.join(unknown)}")


def known_to(client: type, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a client knows."""
    known = client.DEFAULT_CONFIG  # type: ignore[attr-defined]
    return {name: value for name, value in options.items() if name in known}
