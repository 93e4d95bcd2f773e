"""The address that a server listens on."""

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
