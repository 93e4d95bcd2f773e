"""Certificates for a test's servers and clients, made by openssl."""

from pathlib import Path
from typing import NamedTuple

from support.child_process import output_of

_VALID = ("-days", "2")


class CertificateError(RuntimeError):
    """openssl failed."""


class Certificate(NamedTuple):
    """Files (PEM) with a key and its certificate."""

    key: Path
    cert: Path


class Authority:
    """Signs certificates; its own is in `cert`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key, self.cert = folder / "ca.key", folder / "ca.pem"
        _openssl(
            *("req", "-x509", "-newkey", "rsa:2048", "-nodes", *_VALID, "-subj", "/CN=test CA"),
            *("-keyout", str(self._key), "-out", str(self.cert)),
        )

    def sign(self, name: str, password: str = "") -> Certificate:
        """Make a key, encrypted if there is a password, and a certificate of 127.0.0.1 for it."""
        key, cert, request = (self._folder / f"{name}.{end}" for end in ("key", "pem", "csr"))
        extensions = self._folder / f"{name}.ext"
        extensions.write_text("subjectAltName=IP:127.0.0.1\n")
        protection = ("-passout", f"pass:{password}") if password else ("-nodes",)
        _openssl(
            *("req", "-newkey", "rsa:2048", *protection, "-subj", f"/CN={name}"),
            *("-keyout", str(key), "-out", str(request)),
        )
        _openssl(
            *("x509", "-req", "-in", str(request), "-extfile", str(extensions), *_VALID),
            *("-CA", str(self.cert), "-CAkey", str(self._key), "-CAcreateserial"),
            *("-out", str(cert)),
        )
        return Certificate(key, cert)


def certificate(folder: Path) -> tuple[str, Path]:
    """Make a self-signed certificate of 127.0.0.1; return its key (PEM) and the certificate."""
    key, cert = folder / "key.pem", folder / "cert.pem"
    _openssl(
        *("req", "-x509", "-newkey", "rsa:2048", "-nodes", *_VALID),
        *("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"),
        *("-keyout", str(key), "-out", str(cert)),
    )
    return key.read_text(), cert


def _openssl(*arguments: str) -> None:
    output_of(["openssl", *arguments], raising=CertificateError)
