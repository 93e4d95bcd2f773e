"""Tokens and names of the host."""

import pytest
from support.running_api import eventually, publish

from iln_stream.serving.gate import Tokens
from iln_stream.settings import SettingsError

ONE, TWO, THREE = ("first-token-0123456789", "second-token-0123456789", "third-token-0123456789")


@pytest.fixture
def file(tmp_path):
    """A file with two tokens."""
    path = tmp_path / "tokens"
    path.write_text(f"{ONE}\n{TWO}\n")
    return path


def bearer(token, scheme="Bearer"):
    return {"Authorization": f"{scheme} {token}"}


def test_requests_need_a_token(start, tmp_path, file, caplog):
    """Each token of the file is accepted and no other; probes need none. No token reaches the
    log."""
    caplog.set_level("DEBUG")
    publish(tmp_path)
    api = start(token_file=file).ready()
    for token in (ONE, TWO):
        assert api.post("/predict", {"x": {}}, **bearer(token)).status_code == 200
    assert api.post("/predict", {"x": {}}, **bearer(ONE, "bearer")).status_code == 200
    wrong = [THREE, ONE[:-1], ONE * 2, f"{ONE} {TWO}", "x"]
    for headers in [{}, bearer(ONE, "Basic"), *map(bearer, wrong)]:
        for method, path in (("POST", "/predict"), ("GET", "/metrics"), ("GET", "/model")):
            answer = api.http.request(method, path, headers=headers)
            assert (answer.status_code, list(answer.json())) == (401, ["error"])
            assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert api.http.get("/live").status_code == 200
    refused = api.metrics(**bearer(ONE))["iln_api_refusals_total", "token"]
    assert refused == 7 * 3
    ours = [each for each in caplog.records if not each.name.startswith(("httpx", "httpcore"))]
    assert ours
    assert not [each for each in ours if "-token-" in each.getMessage()]


def test_tokens_are_read_again(start, tmp_path, file):
    """A changed file counts without a restart; one without tokens changes nothing."""
    api = start(token_file=file)
    new = tmp_path / "new"
    new.write_text(THREE)
    new.rename(file)
    eventually(lambda: api.http.get("/openapi.json", headers=bearer(THREE)).status_code == 200)
    assert api.http.get("/openapi.json", headers=bearer(ONE)).status_code == 401


def test_an_empty_file_changes_nothing(file, caplog):
    """A file that is being rewritten locks nobody out; the log says so."""
    tokens = Tokens(file)
    file.write_text("")
    tokens.refresh()
    tokens({"headers": [(b"authorization", b"Bearer " + ONE.encode())]})
    assert "has no token; the former tokens stay valid" in caplog.text
    assert ONE not in caplog.text


@pytest.mark.parametrize(
    ("content", "message"),
    [("", "has no token"), ("short\n", "fewer than 16"), (None, "No such file")],
)
def test_files_without_a_good_token(tmp_path, content, message):
    """A missing file, no token or a short one is an error at the start."""
    path = tmp_path / "tokens"
    if content is not None:
        path.write_text(content)
    with pytest.raises(SettingsError, match=message) as refused:
        Tokens(path)
    assert "short" not in str(refused.value)


def test_other_hosts(start, file):
    """Without a token, requests by another name are refused, as a rebound DNS name sends them."""
    api = start()
    hosts = {
        "localhost": 200,
        "LOCALHOST:8080": 200,
        "127.0.0.1:1": 200,
        "[::1]:80": 200,
        "example.org": 421,
        "127.0.0.1.example.org": 421,
        "[::1": 421,
        "": 421,
    }
    path = "/openapi.json"
    found = {host: api.http.get(path, headers={"Host": host}).status_code for host in hosts}
    assert found == hosts
    with_token = start(token_file=file)
    headers = {"Host": "example.org", **bearer(ONE)}
    assert with_token.http.get(path, headers=headers).status_code == 200
