"""TLS: handshakes and files; tests/serving/client shows whom clients and servers trust."""

from contextlib import suppress

import pytest
from support.running_api import RunningApi
from support.tls import certificate

from iln_stream.serving.protocol import tls_context
from iln_stream.serving.settings import ApiSettings
from iln_stream.settings import SettingsError


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A folder with key and certificate of the server."""
    folder = tmp_path_factory.mktemp("server")
    certificate(folder)
    return folder


@pytest.mark.parametrize("sent", [b"", b"\x16\x03\x01\x02\x00"])
def test_a_handshake_that_does_not_end(tmp_path, server, sent, monkeypatch):
    """The connection is closed after the time that headers may take."""
    monkeypatch.setattr("iln_stream.serving.server.HEADER_SECONDS", 0.3)
    given = {"tls_certificate": server / "cert.pem", "tls_key": server / "key.pem"}
    with RunningApi(tmp_path, **given) as api, api.connect() as connection:
        connection.sendall(sent)
        connection.settimeout(10)
        with suppress(ConnectionResetError):
            assert connection.recv(1) == b""


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tls_key": "key.pem"}, "tls_key: needs tls_certificate"),
        ({"tls_certificate": "cert.pem"}, "tls_certificate: needs tls_key"),
        ({"tls_certificate": "cert.pem", "tls_key": "cert.pem"}, "tls_key"),
        (
            {"tls_certificate": "cert.pem", "tls_key": "key.pem", "tls_client_ca": "no.pem"},
            "tls_client_ca = 'no.pem'",
        ),
    ],
)
def test_wrong_files(server, monkeypatch, given, message):
    """Missing and wrong files are errors at the start that name the setting."""
    monkeypatch.chdir(server)
    with pytest.raises(SettingsError, match=message):
        tls_context(ApiSettings(**given))
