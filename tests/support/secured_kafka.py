"""A real broker that also listens with TLS: one port asks for a password, one for a certificate."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from kafka import KafkaAdminClient
from kafka.admin import ScramMechanism, UserScramCredentialUpsertion

from iln_stream.service import Settings
from support.kafka_broker import KafkaBroker
from support.ports import free_ports
from support.tls import Authority, Certificate

USER, PASSWORD = "iln", "pass-word/of the test"
KEY_PASSWORD = "key-word of the test"


class SecuredBroker(NamedTuple):
    """A broker with three ports.

    `broker.bootstrap` is the plain one. `login` wants TLS and USER with PASSWORD (PLAIN or
    SCRAM-SHA-512); `mutual` wants a certificate that `authority` signed, such as `client`, whose
    key is encrypted with KEY_PASSWORD.
    """

    broker: KafkaBroker
    login: str
    mutual: str
    authority: Authority
    client: Certificate


@contextmanager
def secured_broker(folder: Path, more: Mapping[str, str] | None = None) -> Iterator[SecuredBroker]:
    """Run the broker, with `more` in its server.properties."""
    folder.mkdir(exist_ok=True)
    authority = Authority(folder)
    server = authority.sign("server")
    login, mutual = (f"127.0.0.1:{port}" for port in free_ports(2))
    plain_module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    scram_module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    overrides = {
        "listeners": "PLAINTEXT://127.0.0.1:{broker_port},CONTROLLER://127.0.0.1:{controller_port},"
        f"LOGIN://{login},MUTUAL://{mutual}",
        "advertised.listeners": "PLAINTEXT://127.0.0.1:{broker_port},"
        f"LOGIN://{login},MUTUAL://{mutual}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,"
        "LOGIN:SASL_SSL,MUTUAL:SSL",
        "listener.name.login.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
        "listener.name.login.plain.sasl.jaas.config": f"{plain_module} required "
        f'user_{USER}="{PASSWORD}";',
        "listener.name.login.scram-sha-512.sasl.jaas.config": f"{scram_module} required;",
        "listener.name.mutual.ssl.client.auth": "required",
        "listener.name.mutual.ssl.truststore.type": "PEM",
        "listener.name.mutual.ssl.truststore.certificates": _one_line(authority.cert),
    }
    for name in ("login", "mutual"):
        overrides |= {
            f"listener.name.{name}.ssl.keystore.type": "PEM",
            f"listener.name.{name}.ssl.keystore.key": _one_line(server.key),
            f"listener.name.{name}.ssl.keystore.certificate.chain": _one_line(server.cert),
        }
    with KafkaBroker(folder, {**overrides, **(more or {})}, borrow=False) as broker:
        with KafkaAdminClient(bootstrap_servers=broker.bootstrap) as admin:
            admin.alter_user_scram_credentials(
                [UserScramCredentialUpsertion(USER, ScramMechanism.SCRAM_SHA_512, PASSWORD)]
            )
        client = authority.sign("client", KEY_PASSWORD)
        yield SecuredBroker(broker, login, mutual, authority, client)


def settings(
    secured: SecuredBroker, way: str, folder: Path, secret: str = "", **changes: Any
) -> Settings:
    """Settings that connect in one of the ways; the password is in a file in the folder."""
    options: dict[str, Any] = {
        "ssl_cafile": str(secured.authority.cert),
        "bootstrap_timeout_ms": 2_000,
    }
    if way == "mutual":
        key, cert = secured.client
        options |= {"security_protocol": "SSL", "ssl_keyfile": str(key), "ssl_certfile": str(cert)}
        option, secret = "ssl_password", secret or KEY_PASSWORD
    else:
        options |= {"security_protocol": "SASL_SSL", "sasl_mechanism": way}
        options |= {"sasl_plain_username": USER}
        option, secret = "sasl_plain_password", secret or PASSWORD
    file = folder / "secret"
    file.write_text(f"{secret}\n")
    file.chmod(0o600)
    given = {
        "bootstrap": secured.mutual if way == "mutual" else secured.login,
        "kafka_secrets": {option: str(file)},
        "start": "earliest",
        "stop_at_end": True,
        "metrics_port": 0,
        **changes,
    }
    given["kafka_options"] = {**options, **given.pop("kafka_options", {})}
    return Settings.load(**given)


def _one_line(file: Path) -> str:
    return file.read_text().replace("\n", "\\n")
