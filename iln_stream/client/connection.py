"""Where the server is, and how a client identifies itself."""

import ssl
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from iln_stream._version import __version__
from iln_stream.client.calls import Reply, Request
from iln_stream.client.errors import ClientError, TimedOutError, TransportError


class Connection(NamedTuple):
    """Options of a connection.

    Parameters
    ----------
    url
        Address of the server, such as `http://127.0.0.1:8080`.
    token
        Bearer token.
    token_file
        File that holds it, read with each request, so that it may change.
    timeout
        Seconds to connect, and without a byte from the server.
    tls_ca
        Certificates (PEM) that may sign the server's; None: those of the system.
    tls_certificate, tls_key
        The client's certificate chain and its key (PEM), for mutual TLS.

    """

    url: str
    token: str | None
    token_file: Path | str | None
    timeout: float
    tls_ca: Path | None
    tls_certificate: Path | None
    tls_key: Path | None

    def check(self) -> None:
        """Raise ClientError if the options do not fit together."""
        if not self.url.startswith(("http://", "https://")):
            raise ClientError(f"url = {self.url!r}: begin with http:// or https://")
        if self.token is not None and self.token_file is not None:
            raise ClientError("token and token_file: give one of them")
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise ClientError("tls_certificate and tls_key: give both or none")
        tls = (self.tls_ca, self.tls_certificate)
        if self.url.startswith("http://") and tls != (None, None):
            raise ClientError(f"url = {self.url!r}: TLS needs https://")
        self.authorization()

    def options(self) -> dict[str, Any]:
        """Return the arguments of an httpx client."""
        self.check()
        return {
            "base_url": self.url,
            "timeout": self.timeout,
            "verify": self._context() if self.url.startswith("https://") else False,
            "headers": {"User-Agent": f"iln-stream/{__version__}", "Accept": "application/json"},
        }

    def arguments(self, request: Request) -> dict[str, Any]:
        """Return the arguments of httpx for a request."""
        headers = self.authorization()
        if request.content is not None:
            headers["Content-Type"] = "application/json"
        return {
            "method": request.method,
            "url": request.path,
            "content": request.content,
            "params": request.query or None,
            "headers": headers,
        }

    def authorization(self) -> dict[str, str]:
        """Return the header with the token; empty without one.

        Raises
        ------
        ClientError
            When the file can't be read, or the token is empty or not in ASCII.

        """
        token, named = self.token, "token"
        if self.token_file is not None:
            named = f"token_file = {str(self.token_file)!r}"
            try:
                token = Path(self.token_file).read_text("utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise ClientError(f"{named}: {getattr(error, 'strerror', error)}") from None
        if token is None:
            return {}
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise ClientError(f"{named}: must hold one token, of printable ASCII without spaces")
        return {"Authorization": f"Bearer {token}"}

    def failure(self, error: httpx.HTTPError) -> TransportError:
        """Return our error for one of httpx."""
        reason = str(error) or type(error).__name__
        if isinstance(error, httpx.TimeoutException):
            return TimedOutError(f"{self.url} did not answer within {self.timeout:g} s: {reason}")
        return TransportError(f"{self.url} can't be reached: {reason}")

    def _context(self) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(cafile=self.tls_ca)
        except OSError as error:
            raise ClientError(f"tls_ca = {str(self.tls_ca)!r}: {error}") from None
        if self.tls_certificate is not None and self.tls_key is not None:
            try:
                context.load_cert_chain(self.tls_certificate, self.tls_key)
            except OSError as error:
                raise ClientError(
                    f"tls_certificate = {str(self.tls_certificate)!r}, tls_key = "
                    f"{str(self.tls_key)!r}: {error}"
                ) from None
        return context


def reply_of(response: httpx.Response) -> Reply:
    """Return what the calls read of an answer."""
    return Reply(response.status_code, response.content, response.headers.get("Retry-After"))
