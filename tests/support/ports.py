"""Free ports on the loopback."""

import random
import socket

# Below the range the kernel gives to outgoing connections: a client that keeps reconnecting to a
# stopped server could otherwise be given the server's port as its own and so hold it.
_PORTS = range(15000, 32000)


def free_port() -> int:
    """Return a port that nobody listens on and that no outgoing connection is given."""
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """Return several such ports."""
    candidates = random.SystemRandom().sample(_PORTS, k=50 * count)
    return [port for port in candidates if _is_free(port)][:count]


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
