"""Who may send requests: bearer tokens, and names of this host."""

import hashlib
import hmac
import logging
from collections.abc import Iterable
from pathlib import Path

from starlette.types import Scope

from iln_stream.api.http_error import HttpError
from iln_stream.api.scope import header
from iln_stream.hosts import names_one_of
from iln_stream.settings import SettingsError

log = logging.getLogger(__name__)

SHORTEST = 16
"""Characters of a token; shorter ones can be guessed."""


class Tokens:
    """Bearer tokens in a file, one a line.

    Parameters
    ----------
    file
        The file.

    Raises
    ------
    SettingsError
        When the file can't be read, or has no token or one that is too short.

    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._read: tuple[int, int, int] | None = None
        self._digests: tuple[bytes, ...] = ()
        self._load()

    def refresh(self) -> None:
        """Read the file again if it has changed; keep the former tokens if it is not valid."""
        try:
            self._load()
        except SettingsError as error:
            log.warning("%s; the former tokens stay valid", error)

    def __call__(self, scope: Scope) -> None:
        """Raise an HttpError if the request does not have a token of the file."""
        scheme, _, token = (header(scope, b"authorization") or b"").partition(b" ")
        found = _digest(token.strip())
        # Digests have one length, and all are compared: time does not depend on the token.
        matches = [hmac.compare_digest(found, each) for each in self._digests]
        if scheme.lower() != b"bearer" or not any(matches):
            raise HttpError(
                401,
                "token",
                "Authorization: expected Bearer and a token of token_file",
                {"WWW-Authenticate": "Bearer"},
            )

    def _load(self) -> None:
        try:
            status = self._file.stat()
            version = (status.st_mtime_ns, status.st_size, status.st_ino)
            if version == self._read:
                return
            lines = self._file.read_bytes().split()
        except OSError as error:
            raise SettingsError(f"token_file = {str(self._file)!r}: {error.strerror}") from None
        self._read = version
        if not lines:
            raise SettingsError(f"token_file = {str(self._file)!r}: has no token")
        if any(len(line) < SHORTEST for line in lines):
            raise SettingsError(
                f"token_file = {str(self._file)!r}: a token has fewer than {SHORTEST} characters; "
                "`openssl rand -hex 32` makes a good one"
            )
        self._digests = tuple(_digest(line) for line in lines)


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()


class KnownHost:
    """Refuses requests for other hosts than this one.

    Without a token, a web page that a browser on this machine shows could send requests here, under
    a name of its own that it lets resolve to this machine.

    Parameters
    ----------
    hosts
        Names and addresses of this host.

    """

    def __init__(self, hosts: Iterable[str]) -> None:
        self._hosts = frozenset(hosts)

    def __call__(self, scope: Scope) -> None:
        """Raise an HttpError if the header Host names another host."""
        host = header(scope, b"host") or b""
        if not names_one_of(host.decode("latin-1"), self._hosts):
            raise HttpError(
                421, "host", "Host: not a name of this host; set token_file to allow other names"
            )
