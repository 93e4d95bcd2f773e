"""Every setting of the service, in one place."""

import datetime as dt
import json
import os
import tomllib
import warnings
from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AwareDatetime, Field, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from iln_stream.errors import IlnWarning, UnrecoverableError

ENV_PREFIX = "ILN_"
_WHEN_REFUSED = f"{ENV_PREFIX}WHEN_REFUSED"

JsonObject = Annotated[dict[str, Any], NoDecode]
"""A TOML table, or JSON text in a flag or variable, which `Settings` itself reads."""


class SettingsError(UnrecoverableError):
    """A setting has a value that can't be used; the message names it in all its spellings."""

    when_refused = "exit"
    """The setting of this name, though the others could not be used."""


class Settings(BaseSettings):
    """What `iln-stream run` does. A flag beats a variable, a variable beats the TOML file."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, extra="forbid", frozen=True)

    source: str = Field(
        default="kafka",
        description="Where events come from: `kafka` (the topic that `topic` names) or "
        "`kafka:TOPIC`; a `.jsonl` or `.csv` file; `-` for JSON lines on standard input; "
        "`river:NAME` or `synthetic:NAME` for a stream of River's; or "
        "`package.module:attribute` of a source of your own.",
    )
    bootstrap: str = Field(
        default="127.0.0.1:9092", description="Kafka brokers, host:port, comma-separated."
    )
    topic: str = Field(default="iln-events", description="Kafka topic to learn from.")
    partitions: str = Field(
        default="all",
        pattern=r"^(all|\d+(,\d+)*)$",
        description="Its partitions, `all` or numbers like `0,2`.",
    )
    learner_per: Literal["topic", "partition"] = Field(
        default="topic",
        description="`topic`: one learner over all of these partitions, in the order of arrival, "
        "which the snapshots keep; `partition`: one learner each.",
    )
    start: Literal["earliest", "latest"] | AwareDatetime | None = Field(
        default=None,
        description="Where a Kafka run begins: `earliest`, `latest`, or the first record at or "
        "after a time (RFC 3339). Must be said, but where a snapshot tells where to go on.",
    )
    stop_at_end: bool = Field(
        default=False, description="End at what was the end of the topic at the start."
    )
    limit: int | None = Field(
        default=None,
        ge=1,
        description="End a source that is not Kafka after so many events.",
    )
    target: str | None = Field(default=None, description="The label's column in a CSV file.")
    kafka_options: JsonObject = Field(
        default_factory=dict,
        description="Passed to kafka-python as they are (security_protocol, ssl_cafile, ...).",
    )
    kafka_client: Literal["kafka-python", "confluent"] = Field(
        default="kafka-python",
        description="What reads from Kafka: `confluent` is faster, and an extra, "
        "`iln-stream[confluent]`.",
    )
    broker_wait: float = Field(
        default=30.0, ge=0, description="Seconds to wait at the start for brokers that are absent."
    )
    snapshots: str | None = Field(
        default=None,
        description="Folder that keeps each learner's state together with its place in the topic, "
        "so that a run goes on where the last one ended, however it ended. Unset: a run begins "
        "anew.",
    )
    snapshot_events: int = Field(
        default=100_000, ge=1, description="Records from one snapshot to the next, at most."
    )
    snapshot_seconds: float = Field(
        default=10.0, gt=0, description="Seconds from one snapshot to the next, at most."
    )
    snapshot_keep: int = Field(
        default=3, ge=1, description="How many of the newest snapshots are kept."
    )
    snapshot_pickle: bool = Field(
        default=False,
        description="Save and read a learner that is not ours as a pickle. That runs code: only if "
        "nobody else can write to the folder.",
    )
    accept_loss: bool = Field(
        default=False,
        description="Go on though the topic's retention deleted records before they were learned.",
    )
    recent_ids: int | None = Field(
        default=None,
        ge=1,
        description="How many events' and labels' ids are remembered, to pass over repeats. "
        "Unset: each record is an event of its own.",
    )
    pending_events: int | None = Field(
        default=None,
        ge=1,
        description="How many predicted events, with an id and without a label, wait for a record "
        "with their id and label; beyond it the oldest expires. Unset: such records are dead "
        "letters.",
    )
    learner: str = Field(
        default="infinite-layer",
        description="`infinite-layer`, the most accurate, with nothing to tune; "
        "`shrinking-gradient`, the paper's; `pool`, its steps on features that are kept: fast, "
        "without Theorem 1; or `package.module:attribute` of a River regressor or pipeline, or of "
        "a function that makes one.",
    )
    learner_options: JsonObject = Field(
        default_factory=dict,
        description="Arguments of the learner, such as `profile` (`fast`) of `infinite-layer`, "
        "`norm_bound` and `budget`, or a pool's `size` and `step`.",
    )
    seed: int = Field(default=1, ge=0, description="Seed of the learner's and the streams' draws.")
    listeners: str | None = Field(
        default=None,
        description="Your own listeners, `package.module:attribute`, comma-separated.",
    )
    model: str | None = Field(
        default=None,
        description="Value of the metrics' label `model`. Unset: stream and learner, such as "
        "`iln-events/infinite-layer`.",
    )
    predictions: str | None = Field(
        default=None,
        description="Where predictions go: `kafka:TOPIC`, a file, or `-` for standard output.",
    )
    transactional: bool = Field(
        default=False,
        description="Publish each prediction exactly once for readers of committed records, in "
        "transactions; else at least once, its repeats identical. For `kafka:TOPIC` only.",
    )
    dead_letters: str | None = Field(
        default=None,
        description="Where dead letters go: `kafka:TOPIC` or a file. Unset: the topic "
        "`<topic>-dead-letters` beside a Kafka source, else the file `dead-letters.jsonl`.",
    )
    metrics_host: str = Field(default="127.0.0.1", description="Address that /metrics listens on.")
    metrics_port: int | None = Field(
        default=9108, ge=0, le=65535, description="Its port; 0 takes a free one."
    )
    window: int = Field(default=1000, ge=1, description="Labelled events in the windowed metrics.")
    when_refused: Literal["exit", "wait"] = Field(
        default="exit",
        description="What `run` does when the settings are wrong, or not those of the snapshots: "
        "`exit`, or `wait` until it is stopped, so that no supervisor restarts it for ever.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info",
        description="The least that is logged: `debug`, `info`, `warning` or `error`; `debug` "
        "includes what the Kafka client says.",
    )
    log_format: Literal["text", "json"] = Field(
        default="text",
        description="`text`, or `json`: one object a line, with time, level, logger, message and "
        "exception.",
    )

    @property
    def source_address(self) -> str:
        """The address of `source`: `kafka` alone is short for that of `topic`."""
        return f"kafka:{self.topic}" if self.source == "kafka" else self.source

    @field_validator("start", mode="before")
    @classmethod
    def _start_in_words(cls, value: object) -> object:
        if value is None or value in ("earliest", "latest"):
            return value
        moment = value
        if isinstance(value, str):
            try:
                moment = dt.datetime.fromisoformat(value)
            except ValueError:
                moment = None
        if not isinstance(moment, dt.datetime) or moment.tzinfo is None:
            raise ValueError(
                "expected earliest, latest or a time with its offset, like 2026-01-31T12:00:00Z"
            )
        return moment

    @field_validator("kafka_options", "learner_options", mode="before")
    @classmethod
    def _json_object(cls, value: object) -> object:
        if isinstance(value, str):
            try:
                return json.loads(value)
            except json.JSONDecodeError as error:
                raise ValueError(
                    f'expected a JSON object like {{"budget": 500}}: {error}'
                ) from None
        return value

    @classmethod
    def load(cls, config: Path | None = None, **flags: Any) -> Self:
        """Read flags, ILN_* variables and a TOML file, and check them all.

        Parameters
        ----------
        config
            The TOML file, if there is one.
        flags
            Values given on the command line; None means not given.

        Raises
        ------
        SettingsError
            Naming every wrong setting.

        """
        given = {name: value for name, value in flags.items() if value is not None}
        if config is not None and not config.is_file():
            raise _refused(f"--config: there is no file {config}", config, given)

        _warn_of_misspelt_variables()

        class Reader(cls):  # type: ignore[valid-type, misc]
            model_config = SettingsConfigDict(toml_file=config)

        try:
            return Reader(**given)
        except ValidationError as error:
            raise _refused(_spelled_out(error), config, given) from None
        except ValueError as error:  # a TOML file or a variable that doesn't even parse
            raise _refused(f"{config or 'environment'}: {error}", config, given) from error

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags, then variables, then the TOML file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def _refused(message: str, config: Path | None, given: Mapping[str, Any]) -> SettingsError:
    """Return the error, with what to do about it as far as that can be read."""
    file: dict[str, Any] = {}
    if config is not None:
        with suppress(OSError, ValueError):
            file = tomllib.loads(config.read_text(encoding="utf-8"))
    error = SettingsError(message)
    in_file = file.get("when_refused", error.when_refused)
    error.when_refused = given.get("when_refused", os.environ.get(_WHEN_REFUSED, in_file))
    return error


def _warn_of_misspelt_variables() -> None:
    """Tell of ILN_* variables that are no setting but look like one; others may be somebody's."""
    settings = {ENV_PREFIX + name.upper() for name in Settings.model_fields}
    for variable in sorted(os.environ.keys() - settings):
        if variable.startswith(ENV_PREFIX):
            for meant in get_close_matches(variable, settings, n=1, cutoff=0.85):
                warnings.warn(
                    f"{variable} is no setting: did you mean {meant}?", IlnWarning, stacklevel=3
                )


def _spelled_out(error: ValidationError) -> str:
    lines = []
    for detail in error.errors(include_url=False):
        name = str(detail["loc"][0])
        if name in Settings.model_fields:
            spellings = f"{name} (--{name.replace('_', '-')}, {ENV_PREFIX}{name.upper()})"
        else:
            meant = get_close_matches(name, Settings.model_fields, n=1)
            spellings = f"{name} (no such setting{''.join(f'; {m}?' for m in meant)})"
        message = detail["msg"].removeprefix("Value error, ")  # pydantic's, before our own words
        # The options may hold a password, which no log should.
        got = "" if name == "kafka_options" else f", got {detail['input']!r}"
        lines.append(f"{spellings}: {message}{got}")
    return "\n".join(dict.fromkeys(lines))
