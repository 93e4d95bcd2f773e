"""The page behind nginx with the configuration of docs/deploy.md: TLS, a password, any path."""

import re
import ssl
import subprocess
from threading import Thread

import httpx
import pytest
from playwright.sync_api import expect
from support.child_process import output_of
from support.debian_programs import program
from support.document import blocks
from support.ports import free_port
from support.tls import Authority

from iln_stream.serving.page_server import PageServer
from iln_stream.serving.settings import PageSettings

USER = ("ana", "secret of ana")
NGINX = """\
daemon off;
master_process off;
error_log {folder}/error.log;
pid {folder}/nginx.pid;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/1;
    proxy_temp_path {folder}/2;
    fastcgi_temp_path {folder}/3;
    uwsgi_temp_path {folder}/4;
    scgi_temp_path {folder}/5;
{server}
}}
"""


@pytest.fixture(scope="module")
def proxy(tmp_path_factory):
    """Address of nginx in front of the page of a learner that does not run, and its authority."""
    folder = tmp_path_factory.mktemp("proxy")
    authority = Authority(folder)
    key, cert = authority.sign("learner")
    digest = output_of(["openssl", "passwd", "-apr1", USER[1]], raising=RuntimeError)
    (folder / "passwords").write_text(f"{USER[0]}:{digest}\n")
    page = PageServer(PageSettings(learner="http://127.0.0.1:1", port=0))
    serving = Thread(target=page.run, daemon=True)
    serving.start()
    port = free_port()
    (server,) = blocks("deploy.md", "nginx")
    for shown, ours in (
        ("listen 443", f"listen 127.0.0.1:{port}"),
        ("http://127.0.0.1:8090", page.url.rstrip("/")),
        ("/etc/nginx/learner.pem", str(cert)),
        ("/etc/nginx/learner.key", str(key)),
        ("/etc/nginx/learner.passwords", str(folder / "passwords")),
    ):
        assert shown in server
        server = server.replace(shown, ours)
    below = f"location /learner/ {{ proxy_pass {page.url.rstrip('/')}/; }}\n}}"
    server = re.sub(r"^\}", lambda _: below, server, flags=re.M)
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, server=server))
    nginx = program("usr/sbin/nginx", "nginx")
    with subprocess.Popen([nginx, "-p", folder, "-c", folder / "nginx.conf"]) as process:
        try:
            yield f"https://127.0.0.1:{port}", authority.cert
        finally:
            process.terminate()
            page.stop()
            serving.join(30)


@pytest.fixture
def client(proxy):
    """A client without a password."""
    address, authority = proxy
    transport = httpx.HTTPTransport(
        retries=10, verify=ssl.create_default_context(cafile=authority)
    )  # nginx may still start
    with httpx.Client(base_url=address, transport=transport, timeout=30) as made:
        yield made


@pytest.mark.parametrize("path", ["/", "/events", "/learner/events"])
def test_nothing_without_the_password(client, path):
    """nginx asks for the password, on each path."""
    assert client.get(path).status_code == 401
    assert client.get(path, auth=("ana", "guessed")).status_code == 401


def test_changes_come_as_they_happen(client):
    """The stream of changes passes the proxy unbuffered: its first message arrives while the
    stream goes on."""
    with client.stream("GET", "/events", auth=USER) as answer:
        assert answer.status_code == 200
        assert next(answer.iter_text()).startswith("retry:")


@pytest.mark.parametrize("path", ["/", "/learner/"])
def test_the_page_works(proxy, show, path):
    """A browser that gives the password shows the page, also below a path: files are found, and
    the stream says that the learner is away."""
    page = show(
        proxy[0] + path,
        ignore_https_errors=True,
        http_credentials={"username": USER[0], "password": USER[1]},
    )
    expect(page.locator("#status")).to_contain_text("The learner can't be reached")
