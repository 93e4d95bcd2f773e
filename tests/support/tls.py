"""A self-signed certificate for a test's server and clients."""

from __future__ import annotations

from pathlib import Path

from support.child_process import output_of


class CertificateError(RuntimeError):
    """openssl failed."""


def certificate(folder: Path) -> tuple[str, Path]:
    """Make a self-signed certificate of 127.0.0.1; return its key (PEM) and the certificate."""
    key, cert = folder / "key.pem", folder / "cert.pem"
    output_of(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(cert)),
        ],
        raising=CertificateError,
    )
    return key.read_text(), cert
