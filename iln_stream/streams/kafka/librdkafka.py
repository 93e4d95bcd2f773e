"""`kafka_options` for confluent-kafka: their names in librdkafka."""

from collections.abc import Mapping
from typing import Any

from iln_stream.streams.kafka.options import require_known

_CONNECTION = {
    "security_protocol": "security.protocol",
    "ssl_cafile": "ssl.ca.location",
    "ssl_certfile": "ssl.certificate.location",
    "ssl_keyfile": "ssl.key.location",
    "ssl_password": "ssl.key.password",
    "ssl_crlfile": "ssl.crl.location",
    "ssl_ciphers": "ssl.cipher.suites",
    "ssl_check_hostname": "ssl.endpoint.identification.algorithm",
    "sasl_mechanism": "sasl.mechanism",
    "sasl_plain_username": "sasl.username",
    "sasl_plain_password": "sasl.password",
    "client_id": "client.id",
    "reconnect_backoff_max_ms": "reconnect.backoff.max.ms",
}

CONSUMER = {
    **_CONNECTION,
    "max_poll_records": "queued.min.messages",
    "fetch_min_bytes": "fetch.min.bytes",
    "fetch_max_wait_ms": "fetch.wait.max.ms",
    "max_partition_fetch_bytes": "max.partition.fetch.bytes",
}

PRODUCER = {
    **_CONNECTION,
    "linger_ms": "linger.ms",
    "batch_size": "batch.size",
    "compression_type": "compression.type",
    "delivery_timeout_ms": "delivery.timeout.ms",
    "request_timeout_ms": "request.timeout.ms",
    "max_request_size": "message.max.bytes",
    "transactional_id": "transactional.id",
    "transaction_timeout_ms": "transaction.timeout.ms",
}


def translated(
    options: Mapping[str, Any], names: Mapping[str, str] = _CONNECTION
) -> dict[str, Any]:
    """Return the options that are in `names`; the others apply only to kafka-python.

    Raises
    ------
    ValueError
        When there are options that no client knows.

    """
    require_known(options)
    if "ssl_check_hostname" in options:
        checks = bool(options["ssl_check_hostname"])
        options = {**options, "ssl_check_hostname": "https" if checks else "none"}
    return {names[name]: value for name, value in options.items() if name in names}
