"""TLS and mutual TLS."""

import ssl
from contextlib import suppress

import httpx
import pytest
from support.running_api import RunningApi
from support.tls import certificate

from iln_stream.serving.protocol import tls_context
from iln_stream.serving.settings import ApiSettings
from iln_stream.settings import SettingsError


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Folders with key and certificate of the server, a client and a stranger."""
    made = [tmp_path_factory.mktemp(name) for name in ("server", "client", "stranger")]
    for folder in made:
        certificate(folder)
    return made


def settings(server, **more):
    return {"tls_certificate": server / "cert.pem", "tls_key": server / "key.pem", **more}


def trusting(server, own=None):
    context = ssl.create_default_context(cafile=server / "cert.pem")
    if own is not None:
        context.load_cert_chain(own / "cert.pem", own / "key.pem")
    return httpx.Client(verify=context, trust_env=False)


def test_tls(tmp_path, folders):
    """The server answers over TLS to clients that trust its certificate."""
    server, _, _ = folders
    with RunningApi(tmp_path, **settings(server)) as api:
        assert api.url.startswith("https://")
        with trusting(server) as http:
            assert http.get(f"{api.url}/live").status_code == 200
        with httpx.Client(trust_env=False) as http, pytest.raises(httpx.ConnectError):
            http.get(f"{api.url}/live")


@pytest.mark.parametrize("sent", [b"", b"\x16\x03\x01\x02\x00"])
def test_a_handshake_that_does_not_end(tmp_path, folders, sent, monkeypatch):
    """The connection is closed after the time that headers may take."""
    monkeypatch.setattr("iln_stream.serving.server.HEADER_SECONDS", 0.3)
    with RunningApi(tmp_path, **settings(folders[0])) as api, api.connect() as connection:
        connection.sendall(sent)
        connection.settimeout(10)
        with suppress(ConnectionResetError):
            assert connection.recv(1) == b""


def test_mutual_tls(tmp_path, folders):
    """Only clients with a certificate of the authority get through."""
    server, client, stranger = folders
    mutual = settings(server, tls_client_ca=client / "cert.pem")
    with RunningApi(tmp_path, **mutual) as api:
        with trusting(server, client) as http:
            assert http.get(f"{api.url}/live").status_code == 200
            assert http.get(f"{api.url}/openapi.json").status_code == 200
        for own in (None, stranger):
            with trusting(server, own) as http, pytest.raises(httpx.TransportError):
                http.get(f"{api.url}/live")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tls_key": "key.pem"}, "tls_key: needs tls_certificate"),
        ({"tls_client_ca": "cert.pem"}, "tls_client_ca: needs tls_certificate"),
        ({"tls_certificate": "cert.pem"}, "tls_certificate: needs tls_key"),
        ({"tls_certificate": "no.pem", "tls_key": "key.pem"}, "no.pem"),
        ({"tls_certificate": "cert.pem", "tls_key": "cert.pem"}, "tls_key"),
        (
            {"tls_certificate": "cert.pem", "tls_key": "key.pem", "tls_client_ca": "no.pem"},
            "tls_client_ca = 'no.pem'",
        ),
    ],
)
def test_wrong_files(folders, monkeypatch, given, message):
    """Missing and wrong files are errors at the start that name the setting."""
    monkeypatch.chdir(folders[0])
    with pytest.raises(SettingsError, match=message):
        tls_context(ApiSettings(**given))
