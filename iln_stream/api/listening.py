"""The address that a server listens on."""

import ipaddress
import socket

from iln_stream.settings import SettingsError


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 picks a free one.

    Raises
    ------
    SettingsError
        When the address can't be listened on.

    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        raise SettingsError(f"host = {host!r}, port = {port}: {error.strerror or error}") from None


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
    return ("localhost", "127.0.0.1", "[::1]", f"[{host}]" if ":" in host else host)
