"""Connecting clients of kafka-python: what their errors mean, and what to do about it."""

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

from kafka import KafkaAdminClient
from kafka.errors import (
    AuthorizationError,
    BrokerResponseError,
    IllegalSaslStateError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    SaslAuthenticationFailedError,
    UnsupportedSaslMechanismError,
)

from iln_stream.errors import IlnError, SourceError
from iln_stream.streams.kafka.options import CONNECTION, known_to, require_known

_LOGIN_ERRORS = (
    AuthorizationError,
    IllegalSaslStateError,
    SaslAuthenticationFailedError,
    UnsupportedSaslMechanismError,
)


class Refusal(NamedTuple):
    """Why a broker, or the client, refuses a connection."""

    at: Literal["login", "TLS"]
    reason: str


def no_connection(bootstrap: str, refusal: Refusal | None) -> str:
    """Return the message for brokers to which a client could not connect.

    Examples
    --------
    >>> from iln_stream.streams.kafka.connecting import no_connection
    >>> no_connection("127.0.0.1:9092", None)
    'no Kafka broker answers at 127.0.0.1:9092: is it running, and are kafka_options right?'

    """
    if refusal is None:
        return (
            f"no Kafka broker answers at {bootstrap}: is it running, and are kafka_options right?"
        )
    if refusal.at == "login":
        return (
            f"Kafka at {bootstrap} refuses the login ({refusal.reason}): are kafka_options right "
            "(sasl_mechanism, sasl_plain_username), and the password in kafka_secrets?"
        )
    return (
        f"no TLS connection to Kafka at {bootstrap} ({refusal.reason}): are kafka_options right "
        "(security_protocol, ssl_cafile; ssl_certfile and ssl_keyfile if the broker requires a "
        "certificate of its clients), and ssl_password in kafka_secrets?"
    )


@contextmanager
def connecting(
    bootstrap: str, options: Mapping[str, Any], raising: type[IlnError]
) -> Iterator[None]:
    """Turn the errors of a client that is opened inside into errors that name the remedy.

    The client tries to connect until `bootstrap_timeout_ms`. It logs why each attempt failed, but
    the error that it raises in the end has no reason.

    Parameters
    ----------
    bootstrap
        Brokers, "host:port", comma-separated.
    options
        Options of the client.
    raising
        Class of the error.

    """
    attempts = _Attempts()
    logger = logging.getLogger("kafka.net")
    logger.addHandler(attempts)
    try:
        yield
    except KafkaTimeoutError as error:
        refusal = attempts.refusal(str(options.get("security_protocol")))
        raise raising(no_connection(bootstrap, refusal)) from error
    except AuthorizationError as error:
        raise raising(f"Kafka at {bootstrap} refuses: {denied(error)}") from error
    except BrokerResponseError as error:  # its text is the whole request
        reason = getattr(error, "description", "") or type(error).__name__
        raise raising(f"Kafka at {bootstrap}: {error.message}: {reason}") from error
    except KafkaError as error:
        raise raising(f"Kafka at {bootstrap}: {error}") from error
    except (AssertionError, OSError, TypeError, ValueError) as error:
        raise raising(f"bootstrap = {bootstrap!r}, kafka_options: {error}") from error
    finally:
        logger.removeHandler(attempts)


def denied(error: BaseException) -> str:
    """Return which right is missing, and what to do, for an error of either client.

    Examples
    --------
    >>> from kafka.errors import TopicAuthorizationFailedError
    >>> from iln_stream.streams.kafka.connecting import denied
    >>> denied(TopicAuthorizationFailedError())[:54]
    "this run's user lacks a right on the topic: to read it"

    """
    told = f"{type(error).__name__} {error}".lower().replace("_", "")
    on = next((each for sign, each in _RESOURCES.items() if sign in told), "the cluster")
    return f"this run's user lacks a right on {on} (docs/how_to_secure_kafka.md lists the rights)"


_RESOURCES = {
    "transactionalid": "its transactional id: Write and Describe on those that begin with "
    "iln-stream., or set transactional = false",
    "topicauthorization": "the topic: to read it, to write to it, or to create it",
    "groupauthorization": "its group: Read on those that begin with iln-stream.",
    "clusterauthorization": "the topics that it writes to",
}
"""What a right is on, by a part of the error's name."""


def log_in(bootstrap: str, options: Mapping[str, Any]) -> None:
    """Connect to a broker with the options of the connection, and disconnect.

    Raises
    ------
    SourceError
        When that fails.

    """
    with connecting(bootstrap, options, SourceError):
        require_known(options)
        given = {**CONNECTION, **known_to(KafkaAdminClient, options)}
        KafkaAdminClient(bootstrap_servers=bootstrap.split(","), **given).close()


class _Attempts(logging.Handler):
    """Reads from the client's log why its attempts to connect failed."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._refusal: Refusal | None = None
        self._closed = False

    def emit(self, record: logging.LogRecord) -> None:
        for each in record.args if isinstance(record.args, tuple) else ():
            if isinstance(each, _LOGIN_ERRORS):
                self._refusal = Refusal("login", str(each))
            elif isinstance(each, OSError | KafkaConnectionError):
                if "SSL" in str(each):
                    self._refusal = Refusal("TLS", str(each))
                elif "socket disconnected" in str(each):
                    self._closed = True

    def refusal(self, security_protocol: str) -> Refusal | None:
        """Return the last reason; None if no broker was reached.

        A broker sends the reason and closes the connection; if both arrive together, the client
        drops the reason.
        """
        if self._refusal is None and self._closed:
            reason = "the broker closes the connection"
            if security_protocol.startswith("SASL"):
                return Refusal("login", reason)
            if security_protocol == "SSL":
                return Refusal("TLS", reason)
        return self._refusal


_SECRET = re.compile(r"auth_bytes|_password|(Send|Recv): ")
"""Marks records of logins, of all options of a client, and of all bytes on the wire."""


def _has_no_secret(record: logging.LogRecord) -> bool:
    return not _SECRET.search(record.getMessage())


for _name in ("kafka.admin.client", "kafka.net.connection", "kafka.protocol.parser"):
    # At level `debug`, kafka-python logs passwords.
    logging.getLogger(_name).addFilter(_has_no_secret)
