"""Connecting to Kafka: options, secrets, errors and waiting for brokers."""

import logging
import random
import re
import socket
import stat
import time
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
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

from iln_stream.errors import IlnError, IlnWarning, SourceError

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


SECRETS = ("sasl_plain_password", "sasl_plain_username", "ssl_password")
"""The options whose value may be in a file."""

_LARGEST = 64 << 10
"""Bytes; a longer file is not a password, but a mistake."""


def read_secrets(
    files: Mapping[str, str],
    setting: str = "kafka_secrets",
    known: Collection[str] = SECRETS,
    options: str = "kafka_options",
) -> dict[str, str]:
    """Return the content of each file, without the newline at its end.

    Errors name the option and not the path, which may be the password itself, given by mistake.
    Errors name `setting`, which has the files by option, and `options`, the setting for other
    options. Only `known` options may be in a file.

    Raises
    ------
    SourceError
        When an option can't be in a file, or a file is missing, unreadable, empty or too long.

    """
    if unknown := sorted(files.keys() - set(known)):
        raise SourceError(
            f"{setting}: {', '.join(unknown)} can't be in a file: only "
            f"{', '.join(known)} can; set it in {options}"
        )
    return {name: _content(f"{setting}: {name}", path) for name, path in files.items()}


def warn_of_readable(files: Mapping[str, str], setting: str = "kafka_secrets") -> None:
    """Warn of files that every user of this machine can read."""
    for name, path in files.items():
        if Path(path).stat().st_mode & stat.S_IROTH:
            warnings.warn(
                f"{setting}: every user of this machine can read the file of {name}: chmod o-r it",
                IlnWarning,
                stacklevel=3,
            )


def _content(name: str, path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            content = file.read(_LARGEST + 1)
        text = content.decode().removesuffix("\n").removesuffix("\r")
    except FileNotFoundError:
        raise SourceError(
            f"{name}: there is no such file; give the path of a file, not the value"
        ) from None
    except UnicodeDecodeError:
        raise SourceError(f"{name}: the file is not UTF-8 text") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a path"
        raise SourceError(f"{name}: can't read the file: {reason}") from None
    if not text:
        raise SourceError(f"{name}: the file is empty; write the value into it")
    if len(content) > _LARGEST:
        raise SourceError(
            f"{name}: the file has more than {_LARGEST} bytes; it must hold only the value"
        )
    return text


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
    >>> from iln_stream.streams.kafka.connection import no_connection
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
    the error that it raises in the end has no reason. The errors are of the class `raising`.
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
    >>> from iln_stream.streams.kafka.connection import denied
    >>> denied(TopicAuthorizationFailedError())[:54]
    "this run's user lacks a right on the topic: to read it"

    """
    told = f"{type(error).__name__} {error}".lower().replace("_", "")
    on = next((each for sign, each in _RESOURCES.items() if sign in told), "the cluster")
    return f"this run's user lacks a right on {on} (docs/sources.md lists the rights)"


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


for _name in ("kafka.admin.client", "kafka.net.connection", "kafka.protocol.parser"):
    # At level `debug`, kafka-python logs passwords.
    logging.getLogger(_name).addFilter(lambda record: not _SECRET.search(record.getMessage()))


log = logging.getLogger(__name__)

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
_CONNECT_SECONDS = 3.0


def wait_for_brokers(bootstrap: str, seconds: float) -> bool:
    """Wait until one of the brokers accepts connections; return whether one does.

    The pauses between attempts double, and are random between half and the whole of that, so that
    learners that started together do not connect together. The brokers are "host:port",
    comma-separated; 0 seconds stand for a single attempt.

    Raises
    ------
    SourceError
        When an address is none.

    """
    addresses = [_address(each, bootstrap) for each in bootstrap.split(",")]
    deadline = time.monotonic() + seconds
    pause = _FIRST_PAUSE
    while not any(_accepts_connections(*each) for each in addresses):
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        log.warning("no Kafka broker answers at %s yet; waiting up to %.0f s", bootstrap, left)
        time.sleep(min(left, pause * random.uniform(0.5, 1.0)))  # noqa: S311
        pause = min(2 * pause, _LONGEST_PAUSE)
    return True


def _address(text: str, bootstrap: str) -> tuple[str, int]:
    host, colon, port = text.strip().rpartition(":")
    if not (colon and host and port.isdecimal() and 0 < int(port) < 1 << 16):
        raise SourceError(
            f"bootstrap = {bootstrap!r}: {text.strip()!r} is no address HOST:PORT, such as "
            "localhost:9092"
        )
    return host.strip("[]"), int(port)


def _accepts_connections(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), _CONNECT_SECONDS).close()
    except (OSError, UnicodeError):
        return False
    return True


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
