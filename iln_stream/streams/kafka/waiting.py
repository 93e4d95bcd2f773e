"""Waiting for brokers at the start."""

import logging
import random
import socket
import time

from iln_stream.errors import SourceError

log = logging.getLogger(__name__)

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
_CONNECT_SECONDS = 3.0


def wait_for_brokers(bootstrap: str, seconds: float) -> bool:
    """Wait until one of the brokers accepts connections; return whether one does.

    The pauses between attempts double, and are random between half and the whole of that, so that
    learners that started together do not connect together.

    Parameters
    ----------
    bootstrap
        Addresses "host:port", comma-separated.
    seconds
        Longest wait; 0 for a single attempt.

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
