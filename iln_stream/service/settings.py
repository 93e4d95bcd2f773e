"""Every setting: its name, type, default and description."""

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
from iln_stream.mapping import NULLS

ENV_PREFIX = "ILN_"
_WHEN_REFUSED = f"{ENV_PREFIX}WHEN_REFUSED"

TextList = Annotated[tuple[str, ...], NoDecode]
"""A list of texts in TOML; in a flag or a variable, comma-separated text."""

JsonObject = Annotated[dict[str, Any], NoDecode]
"""A TOML table; in a flag or a variable, JSON text that `Settings` parses."""


class SettingsError(UnrecoverableError):
    """A setting is invalid; the message gives its key, flag and variable."""

    when_refused = "exit"
    """Value of the setting `when_refused`, read although other settings are invalid."""


class Settings(BaseSettings):
    """Settings of the commands. Flags override variables, which override the TOML file."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, extra="forbid", frozen=True)

    source: str = Field(
        default="kafka",
        description="Where events come from: `kafka` (the topic in `topic`) or `kafka:TOPIC`; a "
        "`.jsonl` or `.csv` file; `-` for JSON lines on standard input; `river:NAME` or "
        "`synthetic:NAME` for a River dataset; or `package.module:attribute` for your own source.",
    )
    bootstrap: str = Field(
        default="127.0.0.1:9092", description="Kafka brokers, host:port, comma-separated."
    )
    topic: str = Field(default="iln-events", description="Kafka topic to learn from.")
    partitions: str = Field(
        default="all",
        pattern=r"^(all|\d+(,\d+)*)$",
        description="Partitions of the topic: `all` or numbers like `0,2`.",
    )
    learner_per: Literal["topic", "partition"] = Field(
        default="topic",
        description="`topic`: one learner for all partitions, which learns in order of arrival "
        "(snapshots record that order); `partition`: one learner per partition.",
    )
    start: Literal["earliest", "latest"] | AwareDatetime | None = Field(
        default=None,
        description="Where a Kafka run begins: `earliest`, `latest`, or the first record at or "
        "after a time (RFC 3339). Required on the first run; with `snapshots`, later runs resume.",
    )
    stop_at_end: bool = Field(
        default=False, description="Stop at the offset that was the topic's end at startup."
    )
    limit: int | None = Field(
        default=None,
        ge=1,
        description="Stop after this many events; not for Kafka.",
    )
    target: str | None = Field(
        default=None,
        description="Field of the label (`price`, or a nested one: `sale.price`). If this or "
        "another setting of fields is set, records are read as they are; otherwise a record is "
        '`{"x": {inputs}, "y": label}`.',
    )
    features: TextList = Field(
        default=("*",),
        description="Fields that are inputs: names or patterns like `sensor_*`, comma-separated; a "
        "name includes all below it. The label, the id and the time are left out.",
    )
    ignore: TextList = Field(
        default=(), description="Fields that are no inputs: names or patterns, comma-separated."
    )
    id_field: str | None = Field(default=None, description="Field of the event's id.")
    time_field: str | None = Field(
        default=None,
        description="Field of the event's time: ISO 8601 (UTC if it has no offset), or POSIX "
        "seconds, milliseconds, microseconds or nanoseconds. Unset: the time of writing.",
    )
    time_features: TextList = Field(
        default=(),
        description="Inputs made of the event's time, comma-separated: `hour`, `weekday`, "
        "`day_of_year` (in UTC, each a sine and a cosine), `since_last` (seconds since the event "
        "before).",
    )
    types: JsonObject = Field(
        default_factory=dict,
        description="Types of fields by name or pattern: `number`, `category`, `boolean`, `time` "
        "(as POSIX seconds) or `auto`, the default: text that is a number is taken as one, with a "
        "warning and a metric, and other text is a category.",
    )
    null_values: TextList = Field(
        default=NULLS,
        description="Texts that mean a missing value, comma-separated; the first may be empty.",
    )
    kafka_options: JsonObject = Field(
        default_factory=dict,
        description="Options of the Kafka client, by kafka-python's names (`security_protocol`, "
        "`ssl_cafile`, ...).",
    )
    kafka_client: Literal["kafka-python", "confluent"] = Field(
        default="kafka-python",
        description="Client that reads from Kafka: `confluent` is faster and needs the extra "
        "`iln-stream[confluent]`.",
    )
    broker_wait: float = Field(
        default=30.0, ge=0, description="Seconds to wait at startup for unreachable brokers."
    )
    snapshots: str | None = Field(
        default=None,
        description="Folder for snapshots: each learner's state with its position in the topic. "
        "A run resumes from the newest one, even after a crash. Unset: each run starts over.",
    )
    snapshot_events: int = Field(
        default=100_000, ge=1, description="Take a snapshot after this many records at the latest."
    )
    snapshot_seconds: float = Field(
        default=10.0, gt=0, description="Take a snapshot after this many seconds at the latest."
    )
    snapshot_keep: int = Field(default=3, ge=1, description="Number of snapshots to keep.")
    snapshot_pickle: bool = Field(
        default=False,
        description="Save and load your own learners as pickles. Loading a pickle runs code: use "
        "only if nobody else can write to the folder.",
    )
    accept_loss: bool = Field(
        default=False,
        description="Continue even if retention deleted records before they were learned.",
    )
    recent_ids: int | None = Field(
        default=None,
        ge=1,
        description="Number of recent event and label ids to remember; records that repeat one are "
        "skipped. Unset: no record is skipped.",
    )
    pending_events: int | None = Field(
        default=None,
        ge=1,
        description="Number of predicted events with an id and no label that wait for a later "
        "record with their label; when full, the oldest expires. Unset: later labels become dead "
        "letters.",
    )
    learner: str = Field(
        default="infinite-layer",
        description="`infinite-layer`: the most accurate, nothing to tune; `shrinking-gradient`: "
        "the paper's algorithm; `pool`: the same steps on a fixed pool of features, fast, without "
        "Theorem 1; or `package.module:attribute` of a River regressor or pipeline, or of a "
        "function that returns one.",
    )
    learner_options: JsonObject = Field(
        default_factory=dict,
        description="Arguments of the learner: `profile` (`accurate` or `fast`) of "
        "`infinite-layer`, "
        "`norm_bound` and `budget` of `shrinking-gradient`, `size` and `step` of `pool`, ...",
    )
    seed: int = Field(default=1, ge=0, description="Random seed of learners and synthetic streams.")
    listeners: str | None = Field(
        default=None,
        description="Your own listeners: `package.module:attribute`, comma-separated.",
    )
    model: str | None = Field(
        default=None,
        description="Value of the metric label `model`. Unset: stream and learner, such as "
        "`iln-events/infinite-layer`.",
    )
    predictions: str | None = Field(
        default=None,
        description="Where predictions go: `kafka:TOPIC`, a file, `-` for standard output, or "
        "`package.module:attribute` for your own sink.",
    )
    transactional: bool = Field(
        default=False,
        description="Publish predictions in Kafka transactions: consumers that read committed "
        "records see each exactly once. Otherwise at least once, with identical repeats. Needs "
        "predictions to `kafka:TOPIC`.",
    )
    dead_letters: str | None = Field(
        default=None,
        description="Where dead letters go: `kafka:TOPIC` or a file. Unset: the topic "
        "`<topic>-dead-letters` for a Kafka source, else the file `dead-letters.jsonl`.",
    )
    metrics_host: str = Field(default="127.0.0.1", description="Address that serves /metrics.")
    metrics_port: int | None = Field(
        default=9108, ge=0, le=65535, description="Port that serves /metrics; 0 picks a free one."
    )
    window: int = Field(
        default=1000, ge=1, description="Number of labelled events in the windowed metrics."
    )
    when_refused: Literal["exit", "wait"] = Field(
        default="exit",
        description="What `run` does if its settings are invalid or differ from the snapshot's: "
        "`exit`, or `wait` to be stopped, so that a supervisor does not restart it in a loop.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info",
        description="Minimum level of the log: `debug`, `info`, `warning` or `error`; `debug` "
        "includes the Kafka client's log.",
    )
    log_format: Literal["text", "json"] = Field(
        default="text",
        description="`text`, or `json`: one object per line, with time, level, logger, message and "
        "exception.",
    )

    @property
    def topic_address(self) -> str:
        """Address of the topic in `topic`."""
        return f"kafka:{self.topic}"

    @property
    def source_address(self) -> str:
        """Address of the source; `kafka` alone stands for the topic in `topic`."""
        return self.topic_address if self.source == "kafka" else self.source

    @field_validator("start", mode="before")
    @classmethod
    def _parse_start(cls, value: object) -> object:
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
                "expected earliest, latest or a time with a UTC offset, like 2026-01-31T12:00:00Z"
            )
        return moment

    @field_validator("features", "ignore", "time_features", "null_values", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(value.split(",")) if isinstance(value, str) else value

    @field_validator("kafka_options", "learner_options", "types", mode="before")
    @classmethod
    def _parse_json(cls, value: object) -> object:
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
        """Read and check flags, ILN_* variables and a TOML file.

        Parameters
        ----------
        config
            The TOML file; None: none.
        flags
            Values given on the command line; None means not given.

        Raises
        ------
        SettingsError
            Lists every invalid setting.

        """
        given = {name: value for name, value in flags.items() if value is not None}
        if config is not None and not config.is_file():
            raise _refused(f"--config: file {config} does not exist", config, given)

        _warn_of_misspelt_variables()

        class Reader(cls):  # type: ignore[valid-type, misc]
            model_config = SettingsConfigDict(toml_file=config)

        try:
            return Reader(**given)
        except ValidationError as error:
            raise _refused(_message(error), config, given) from None
        except ValueError as error:  # the TOML file or a variable can't be parsed
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
    """Return the error with `when_refused`, as far as that setting can be read."""
    file: dict[str, Any] = {}
    if config is not None:
        with suppress(OSError, ValueError):
            file = tomllib.loads(config.read_text(encoding="utf-8"))
    error = SettingsError(message)
    in_file = file.get("when_refused", error.when_refused)
    error.when_refused = given.get("when_refused", os.environ.get(_WHEN_REFUSED, in_file))
    return error


def _warn_of_misspelt_variables() -> None:
    """Warn of unknown ILN_* variables that resemble a setting; others may not be ours."""
    settings = {ENV_PREFIX + name.upper() for name in Settings.model_fields}
    for variable in sorted(os.environ.keys() - settings):
        if variable.startswith(ENV_PREFIX):
            for meant in get_close_matches(variable, settings, n=1, cutoff=0.85):
                warnings.warn(
                    f"{variable} is not a setting; did you mean {meant}?", IlnWarning, stacklevel=3
                )


def _message(error: ValidationError) -> str:
    lines = []
    for detail in error.errors(include_url=False):
        name = str(detail["loc"][0])
        if name in Settings.model_fields:
            spellings = f"{name} (--{name.replace('_', '-')}, {ENV_PREFIX}{name.upper()})"
        else:
            meant = get_close_matches(name, Settings.model_fields, n=1)
            spellings = f"{name} (unknown setting{''.join(f'; did you mean {m}?' for m in meant)})"
        message = detail["msg"].removeprefix("Value error, ")  # added by pydantic
        # The options may contain a password, which must not reach the log.
        got = "" if name == "kafka_options" else f", got {detail['input']!r}"
        lines.append(f"{spellings}: {message}{got}")
    return "\n".join(dict.fromkeys(lines))
