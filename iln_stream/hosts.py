"""Names under which this machine is reached, and requests that name another."""

import ipaddress
from collections.abc import Collection


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def names_of(host: str) -> tuple[str, ...]:
    """Return the names under which clients on this machine reach a server at `host`."""
    own = f"[{host}]" if ":" in host else host.lower()
    return tuple(dict.fromkeys(("localhost", "127.0.0.1", "[::1]", own)))


def names_one_of(header: str, hosts: Collection[str]) -> bool:
    """Return whether the header Host of a request, which may have a port, names one of `hosts`.

    A server on loopback answers such requests alone. A browser on this machine may show a web page
    whose name its owner lets resolve to 127.0.0.1, and which could then read the answers (DNS
    rebinding); its requests have that name in the header.

    Examples
    --------
    >>> from iln_stream.hosts import names_of, names_one_of
    >>> hosts = names_of("127.0.0.1")
    >>> names_one_of("LocalHost:9108", hosts), names_one_of("[::1]", hosts)
    (True, True)
    >>> names_one_of("evil.example:9108", hosts), names_one_of("", hosts)
    (False, False)

    """
    name = header.rpartition("]")[0] + "]" if header[:1] == "[" else header.partition(":")[0]
    return name.lower() in hosts
