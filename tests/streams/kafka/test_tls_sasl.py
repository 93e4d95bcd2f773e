"""A broker that wants TLS with a password or a certificate: every client connects."""

import json
import logging
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from support.command_line import iln
from support.kafka_topics import create_topic, produce, read_topic
from support.secured_kafka import KEY_PASSWORD, PASSWORD, secured_broker, settings
from support.tls import Authority

from iln_stream.errors import IlnError, SinkError, SourceError
from iln_stream.service import Service, output_stream

EVENTS = [(None, b'{"x": {"a": %d}, "y": %d}' % (i % 5, i % 3)) for i in range(50)]
CLIENTS = ["kafka-python", "confluent"]
PAGE = Path(__file__).parents[3] / "docs" / "sources.md"

Changes = dict[str, object]


@pytest.fixture(scope="module")
def secured(tmp_path_factory):
    """A broker with a port for passwords, one for certificates, and a plain one."""
    with secured_broker(tmp_path_factory.mktemp("secured")) as broker:
        yield broker


@pytest.mark.parametrize(
    ("way", "client"),
    [
        ("PLAIN", "kafka-python"),
        pytest.param("SCRAM-SHA-512", "kafka-python", marks=pytest.mark.thorough),
        pytest.param("SCRAM-SHA-512", "confluent", marks=pytest.mark.thorough),
        pytest.param("mutual", "kafka-python", marks=pytest.mark.thorough),
        ("mutual", "confluent"),
    ],
)
def test_every_client_connects(secured, way, client, tmp_path):
    """Source, sinks, transactions and committed offsets connect in each way: a second run
    continues and publishes nothing twice. No snapshot contains the secret."""
    topic = create_topic(secured.broker.bootstrap)
    given = settings(
        secured,
        way,
        tmp_path,
        kafka_client=client,
        topic=topic,
        predictions=f"kafka:{topic}-p",
        transactional=True,
        snapshots=str(tmp_path / "state"),
    )
    for _ in range(2):
        produce(secured.broker.bootstrap, topic, EVENTS)
        Service(given).run()
    found = [json.loads(r.value) for r in read_topic(secured.broker.bootstrap, f"{topic}-p")]
    assert [each["offset"] for each in found] == list(range(100))
    saved = b"".join(file.read_bytes() for file in (tmp_path / "state").rglob("*.*"))
    assert saved
    assert (PASSWORD.encode() in saved, KEY_PASSWORD.encode() in saved) == (False, False)


@pytest.mark.parametrize(
    ("way", "client"), [("PLAIN", "kafka-python"), ("SCRAM-SHA-512", "confluent")]
)
def test_a_wrong_password_is_an_error(secured, way, client, tmp_path, caplog):
    """A wrong password is an error that names the remedy, in bounded time, at every place that
    connects; neither it nor the log, however verbose, has the password."""
    caplog.set_level(logging.DEBUG)
    topic = create_topic(secured.broker.bootstrap)
    given = settings(secured, way, tmp_path, secret="hunter2", kafka_client=client)
    stream = output_stream(given, f"kafka:{topic}")
    by_kafka_python = [stream.sink, stream.log_in] if client == "kafka-python" else []
    began = time.monotonic()
    for connect in (lambda: stream.log(0, "earliest"), *by_kafka_python):
        with pytest.raises(IlnError, match=r"refuses the login .*in kafka_secrets") as caught:
            connect()
        assert "hunter2" not in str(caught.value)
    assert time.monotonic() - began < 120
    assert "hunter2" not in caplog.text


CERTIFICATE = "no TLS connection .*ssl_cafile"
FAULTS = [
    ("mutual", {"ssl_certfile": "other.pem", "ssl_keyfile": "other.key"}, "kafka_options"),
    ("SCRAM-SHA-512", {"ssl_cafile": "other-ca.pem"}, CERTIFICATE),
]


@pytest.mark.parametrize(
    "client", ["kafka-python", pytest.param("confluent", marks=pytest.mark.thorough)]
)
@pytest.mark.parametrize(("way", "changed", "message"), FAULTS)
def test_certificates_that_do_not_fit(secured, way, changed, message, client, tmp_path):
    """A foreign certificate of the client, and a broker whose certificate another authority signed,
    are errors that name the options."""
    other = Authority(tmp_path)
    other.cert.rename(tmp_path / "other-ca.pem")
    other = Authority(tmp_path)
    other.sign("other", KEY_PASSWORD)
    changed = {n: f"{tmp_path}/{v}" if v else None for n, v in changed.items()}
    given = settings(secured, way, tmp_path, kafka_client=client, kafka_options=changed)
    with pytest.raises(SourceError, match=message):
        output_stream(given, "kafka:anything").log(0, "earliest")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_wrong_password_of_the_key(secured, client, tmp_path):
    """A key that the password does not decrypt is an error that names `ssl_password`."""
    given = settings(secured, "mutual", tmp_path, secret="hunter2", kafka_client=client)
    with pytest.raises(SourceError, match=r"ssl_password|kafka_options") as caught:
        output_stream(given, "kafka:anything").log(0, "earliest")
    assert "hunter2" not in str(caught.value)


def test_a_replaced_file_is_read_again(secured, tmp_path):
    """A changed password needs a new content of the file and no change of the settings."""
    topic = create_topic(secured.broker.bootstrap)
    stream = output_stream(settings(secured, "PLAIN", tmp_path, secret="old"), f"kafka:{topic}")
    with pytest.raises(SinkError, match="refuses the login"):
        stream.sink()
    (tmp_path / "secret").write_text(PASSWORD)
    stream.sink().close()


@pytest.mark.thorough
def test_name_of_the_broker(secured, tmp_path):
    """Both clients refuse a certificate that has another name, unless `ssl_check_hostname` is
    false."""
    there = secured.login.replace("127.0.0.1", "localhost")  # the certificate has only the number
    for client in CLIENTS:
        given = {"bootstrap": there, "kafka_client": client}
        for checks, error in ((True, CERTIFICATE), (False, "no topic 'nothing'")):
            asked = settings(
                secured, "PLAIN", tmp_path, kafka_options={"ssl_check_hostname": checks}, **given
            )
            with pytest.raises(SourceError, match=error):
                output_stream(asked, "kafka:nothing").log(0, "earliest")


@pytest.mark.thorough
def test_the_page(secured, tmp_path):
    """The how-to's files and commands work as printed, in another folder and with this broker."""
    place = tmp_path / "etc"
    place.mkdir()
    here = {
        "/etc/iln-stream": str(place),
        "kafka.example:9093": secured.login,
        "kafka.example:9094": secured.mutual,
    }
    page = re.sub("|".join(map(re.escape, here)), lambda m: here[m[0]], PAGE.read_text())
    for file in re.findall(r"```toml\n(# (\S+)\n.*?)```", page, re.DOTALL):
        (tmp_path / file[1]).write_text(file[0])
    password, doctor, conversion = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    shutil.copy(secured.authority.cert, place / "ca.pem")
    key, cert = secured.client
    (place / "key-password").write_text(KEY_PASSWORD)
    (place / "key-password").chmod(0o600)

    def sh(commands, **options):
        subprocess.run(
            ["bash", "-e", "-c", commands],
            cwd=place,
            check=True,
            timeout=60,
            text=True,
            env=os.environ | {"STORE_PASSWORD": "store-word", "KEY_PASSWORD": KEY_PASSWORD},
            **options,
        )

    sh(password, input=f"{PASSWORD}\n")
    assert (place / "kafka-password").stat().st_mode & 0o777 == 0o600
    sh(  # a Java user's keystore
        f"openssl pkcs12 -export -in {cert} -inkey {key} -passin env:KEY_PASSWORD "
        "-passout env:STORE_PASSWORD -out made.p12 && keytool -importkeystore -srckeystore made.p12"
        ' -srcstorepass "$STORE_PASSWORD" -destkeystore client.jks -deststorepass "$STORE_PASSWORD"'
    )
    sh(conversion)
    create_topic(secured.broker.bootstrap, name="iln-events")
    produce(secured.broker.bootstrap, "iln-events", EVENTS)
    assert doctor == "iln-stream doctor --config login.toml\n"
    for config in ("login.toml", "mutual.toml"):
        checked = iln("doctor", "--config", config, cwd=tmp_path)
        assert (checked.returncode, "accepts the login" in checked.stdout) == (0, True), checked
        letters = str(tmp_path / "letters.jsonl")
        flags = ("--stop-at-end", "--metrics-port", "0", "--dead-letters", letters)
        done = iln("run", "--config", config, "--log-level", "debug", *flags, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "50 events" in done.stderr.replace(",", "")
        for secret in (PASSWORD, KEY_PASSWORD):
            assert secret not in done.stdout + done.stderr + checked.stdout + checked.stderr


@pytest.mark.thorough
def test_doctor_logs_in(secured, tmp_path):
    """Doctor reports a broker that refuses the password as missing, with the reason."""
    given = settings(secured, "PLAIN", tmp_path, secret="hunter2")
    flags = ("--kafka-options", json.dumps(given.kafka_options))
    flags += ("--kafka-secrets", json.dumps(given.kafka_secrets))
    done = iln(
        "doctor", "--bootstrap", given.bootstrap, *flags, cwd=tmp_path, env={"COLUMNS": "600"}
    )
    assert done.returncode == 1
    assert "refuses the login" in done.stdout
    assert "hunter2" not in done.stdout + done.stderr
