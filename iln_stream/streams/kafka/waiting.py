"""Waiting for brokers at the start."""

import logging
import random
import socket
import time

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

    """
    deadline = time.monotonic() + seconds
    pause = _FIRST_PAUSE
    while not any(map(_accepts_connections, bootstrap.split(","))):
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        log.warning("no Kafka broker answers at %s yet; waiting up to %.0f s", bootstrap, left)
        time.sleep(min(left, pause * random.uniform(0.5, 1.0)))  # noqa: S311
        pause = min(2 * pause, _LONGEST_PAUSE)
    return True


def _accepts_connections(address: str) -> bool:
    host, _, port = address.strip().rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
    except (OSError, ValueError, OverflowError):
        return False
    return True
