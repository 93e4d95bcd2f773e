"""Every setting of the HTTP API and of the page."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field, field_validator
from pydantic_settings import SettingsConfigDict

from iln_stream.settings import (
    ENV_PREFIX,
    Address,
    CommandSettings,
    JsonObject,
    JsonPaths,
    LogFormat,
    LogLevel,
    Port,
    TextList,
)


class ApiSettings(CommandSettings):
    """Settings of `iln-stream serve`. Flags override variables, which override the TOML file."""

    model_config = SettingsConfigDict(env_prefix=f"{ENV_PREFIX}API_", extra="forbid", frozen=True)

    table = "api"
    secret = ("kafka_options", "kafka_secrets")
    removed: ClassVar[Mapping[str, str]] = {
        "burst": "unset it; a client may send two seconds' worth of `rate` in one burst",
        "connections": "unset it; 1,024 may be open, and a proxy in front can take more",
        "header_seconds": "unset it; headers may take 5 s, and a proxy in front can wait longer",
        "body_seconds": "unset it; a body may take 10 s, and a proxy in front can wait longer",
        "idle_seconds": "unset it; idle connections are closed after 60 s",
        "append_seconds": "unset it; a client that waits for the log longer than 10 s gets a 503",
        "stop_seconds": "unset it; requests in progress get 20 s when the API stops",
        "queue_events": "unset it; 10,000 events may wait, and `max_backlog` bounds the log",
        "trusted_proxies": "set the variable FORWARDED_ALLOW_IPS, which uvicorn reads",
        "group_events": "unset it; up to 1,000 events are appended together",
    }

    models: Annotated[Path, "FOLDER"] = Field(
        default=Path("models"),
        description="Folder of published versions, `publish` of the run.",
    )
    pin: Annotated[TextList, "VERSION"] = Field(
        default=(),
        examples=[["orders-0=1200"]],
        description="Kept version to predict with, until the run removes it: its number, or with "
        "several models `MODEL=VERSION`, comma-separated. Unset: the one that "
        "`iln-stream versions --pin` keeps, or the newest.",
    )
    answers: Address | None = Field(
        default=None,
        description="Where answers of `/predict` are recorded: a file (JSON lines), "
        "`sqlite:PATH#TOPIC` or `kafka:TOPIC`.",
    )
    events: Address = Field(
        default="sqlite:log.db",
        description="Log that events and labels are appended to: `sqlite:PATH`, "
        "`sqlite:PATH#TOPIC` or `kafka:TOPIC`, the address that the learner reads. "
        "Empty: the server only predicts.",
    )
    host: str = Field(
        default="127.0.0.1",
        description="Address to listen on. One that other machines can reach needs `token_file` or "
        "`tls_client_ca`.",
    )
    port: Port = Field(default=8080, description="Port to listen on; 0 picks a free one.")
    token_file: Path | None = Field(
        default=None,
        description="File of bearer tokens, one per line; clients send one of them. It is read "
        "again when it changes. Unset: no token is needed.",
    )
    tls_certificate: Path | None = Field(
        default=None, description="Certificate chain (PEM) of the server. Unset: plain HTTP."
    )
    tls_key: Path | None = Field(
        default=None, description="Private key (PEM) of `tls_certificate`, without a password."
    )
    tls_client_ca: Path | None = Field(
        default=None,
        description="Certificates (PEM) that must have signed a client's certificate (mutual TLS).",
    )
    body_bytes: int = Field(
        default=900_000,
        ge=1,
        description="Largest request body in bytes.",
    )
    batch_events: int = Field(default=1000, ge=1, description="Most events or labels in a request.")
    rate: float = Field(
        default=2000.0,
        gt=0,
        description="Requests per second and client, on average; twice as many in one burst.",
    )
    concurrent_requests: int = Field(
        default=256, ge=1, description="Requests in progress at the same time."
    )
    max_backlog: int = Field(
        default=100_000,
        ge=1,
        description="Records that the learner may be behind the end of the log; beyond that, "
        "events get a 429.",
    )
    interval_level: float = Field(
        default=0.9, gt=0, lt=1, description="Probability that an interval contains the label."
    )
    allow_pickle: bool = Field(
        default=False,
        description="Load published learners that are pickles, such as River's. Loading a "
        "pickle runs code: use only if nobody else can write to the folder "
        "`models`.",
    )
    bootstrap: str = Field(
        default="127.0.0.1:9092", description="Kafka brokers, host:port, comma-separated."
    )
    kafka_options: JsonObject = Field(
        default_factory=dict,
        examples=[{"security_protocol": "SSL"}],
        description="Options of the Kafka client, as of the run.",
    )
    kafka_secrets: JsonPaths = Field(
        default_factory=dict,
        examples=[{"sasl_plain_password": "password.txt"}],
        description="Files that hold its passwords, as of the run.",
    )
    log_level: LogLevel = "info"
    log_format: LogFormat = "text"

    @field_validator("pin")
    @classmethod
    def _check_pin(cls, pins: tuple[str, ...]) -> tuple[str, ...]:
        if wrong := [pin for pin in pins if not pin.rpartition("=")[2].isdecimal()]:
            raise ValueError(f"a version is a number, not {wrong[0]!r}: see `iln-stream versions`")
        return pins

    @property
    def pins(self) -> dict[str, int]:
        """Numbers of versions by model; an empty name stands for every other model."""
        parts = (pin.rpartition("=") for pin in self.pin)
        return {name: int(version) for name, _, version in parts}


class PageSettings(CommandSettings):
    """Settings of `iln-stream page`. Flags override variables, which override the TOML file."""

    model_config = SettingsConfigDict(env_prefix=f"{ENV_PREFIX}PAGE_", extra="forbid", frozen=True)

    table = "page"

    learner: str = Field(
        default="http://127.0.0.1:9108",
        pattern=r"^https?://[^@/?#]+/?$",
        description="Address of the learner's metrics (`metrics_host` and `metrics_port` of the "
        "run).",
    )
    host: str = Field(
        default="127.0.0.1",
        description="Address to listen on. Anyone who can reach it can read the latest events and "
        "dead letters.",
    )
    port: Port = Field(default=8090, description="Port to listen on; 0 picks a free one.")
    poll_seconds: float = Field(
        default=1.0,
        ge=0.1,
        le=60.0,
        description="Seconds between two requests to the learner; ten times as many while no "
        "browser shows the page.",
    )
    browsers: int = Field(default=100, ge=1, description="Most browsers at the same time.")
    log_level: LogLevel = "info"
    log_format: LogFormat = "text"
