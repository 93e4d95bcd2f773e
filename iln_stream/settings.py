"""Reading a command's settings: flags override variables, which override a TOML file."""

import datetime as dt
import json
import os
import re
import tomllib
import warnings
from collections.abc import Mapping
from contextvars import ContextVar
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Self, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from iln_stream.errors import IlnWarning, UnrecoverableError, did_you_mean, told

ENV_PREFIX = "ILN_"

_FILE: ContextVar[Mapping[str, Any]] = ContextVar("_FILE", default=MappingProxyType({}))
"""What the TOML file says of the settings that are being read."""

JsonObject = Annotated[dict[str, Any], NoDecode, "JSON"]
"""A TOML table; in a flag or a variable, JSON text."""

JsonPaths = Annotated[dict[str, str], NoDecode, "JSON"]
"""The same, of paths of files."""

Address = Annotated[str, "ADDRESS"]
FieldName = Annotated[str, "FIELD"]
Folder = Annotated[str, "FOLDER"]
Attribute = Annotated[str, "MODULE:NAME"]
Port = Annotated[int, Field(ge=0, le=65535), "PORT"]
Seconds = Annotated[float, "SECONDS"]
"""Types of settings, with what stands for their values in `--help`."""

LogLevel = Annotated[
    Literal["debug", "info", "warning", "error"],
    Field(description="Minimum level of the log: `debug`, `info`, `warning` or `error`."),
]
LogFormat = Annotated[
    Literal["text", "json"], Field(description="`text`, or `json`: one object per line.")
]


class SettingsError(UnrecoverableError):
    """A setting is invalid; the message gives its key, flag and variable."""


TextList = Annotated[tuple[str, ...], NoDecode, "NAME,..."]
"""A list of texts in TOML; in a flag or a variable, comma-separated text."""


NumberList = Annotated[tuple[float, ...], NoDecode, "NUMBER,..."]
"""A list of numbers in TOML; in a flag or a variable, comma-separated text."""


def moment_of(text: str) -> dt.datetime | None:
    """Return a time with a UTC offset, like 2026-01-31T12:00:00Z; None: it is none."""
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def default_text(default: object) -> str:
    """Return a setting's default as it would be written in a flag."""
    if isinstance(default, bool):
        return str(default).lower()
    return ",".join(map(str, default)) if isinstance(default, tuple) else str(default)


def value_name(field: FieldInfo) -> str | None:
    """Return what stands for a setting's value in `--help`, such as `PORT`; None: a switch."""
    kind: Any = field.annotation
    if get_origin(kind) in (Union, UnionType):  # with None
        kind = get_args(kind)[0]
    notes = *field.metadata, *getattr(kind, "__metadata__", ())
    if texts := [each for each in notes if isinstance(each, str)]:
        return texts[-1]
    if get_origin(kind) is Literal:
        choices = "|".join(get_args(kind))
        return choices if len(choices) < 16 else "NAME"
    return {bool: None, int: "N", float: "NUMBER", Path: "FILE"}.get(kind, "TEXT")


class SettingsGroup(BaseModel):
    """Some settings, which a function takes that needs no others.

    Where a setting is a list or a table, text is read: a list's parts have commas between them, and
    a table is JSON.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def of(cls, settings: Self, **changes: Any) -> Self:
        """Return this group of settings that include it, with changes."""
        values = {name: getattr(settings, name) for name in cls.model_fields} | changes
        given = settings.model_fields_set | changes.keys()
        return cls.model_construct(given, **values)  # type: ignore[return-value]

    @field_validator("*", mode="before")
    @classmethod
    def _read_text(cls, value: object, info: ValidationInfo) -> object:
        assert info.field_name is not None
        field = cls.model_fields[info.field_name]
        kind = get_origin(field.annotation)
        if not isinstance(value, str) or kind not in (dict, tuple):
            return value
        if kind is tuple:
            return tuple(value.split(","))
        try:
            return json.loads(value)
        except json.JSONDecodeError:
            example = json.dumps((field.examples or [{}])[0])
            raise ValueError(f"expected a JSON object like {example}") from None


def _why_no_toml(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is no text in UTF-8: convert it"
    if isinstance(error, tomllib.TOMLDecodeError):
        where = re.findall(r"line \d+", str(error)) or ["its end"]
        return f"{where[0]} is not TOML: write each setting once, as name = value, texts in quotes"
    return str(error)


class CommandSettings(SettingsGroup, BaseSettings):
    """Settings of commands; a subclass has one field per setting.

    Its `model_config` sets the prefix of its variables in `env_prefix`.
    """

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, extra="forbid", frozen=True)

    table: ClassVar[str | None] = None
    """Table of the TOML file with these settings; without this table, they stand at the top."""

    other_tables: ClassVar[tuple[str, ...]] = ()
    """Tables of the TOML file with other commands' settings."""

    secret: ClassVar[tuple[str, ...]] = ()
    """Settings whose values may hold a password, which messages must not show."""

    removed: ClassVar[Mapping[str, str]] = {}
    """Settings of earlier releases, and what to do instead."""

    @classmethod
    def load(cls, config: Path | None = None, **flags: Any) -> Self:
        """Read and check flags, variables and a TOML file.

        A flag that is None is not given.

        Raises
        ------
        SettingsError
            Lists every invalid setting.

        """
        given = {name: value for name, value in flags.items() if value is not None}
        if config is not None and not config.is_file():
            why = "is no file" if config.exists() else "does not exist"
            raise SettingsError(f"--config: file {config} {why}")

        variables = {name: os.environ.get(cls._variable(name)) for name in cls.removed}
        given |= {name: value for name, value in variables.items() if value is not None}
        cls._warn_of_misspelt_variables()
        try:
            in_file = cls._in_file(config)
        except (OSError, ValueError) as error:
            raise SettingsError(f"{config}: {_why_no_toml(error)}") from error

        before = _FILE.set(in_file)
        try:
            return cls(**given)
        except ValidationError as error:
            raise SettingsError(cls._message(error)) from None
        except ValueError as error:  # a variable can't be parsed
            raise SettingsError(f"environment: {error}") from error
        finally:
            _FILE.reset(before)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, InitSettingsSource(settings_cls, dict(_FILE.get()))

    @classmethod
    def _in_file(cls, config: Path | None) -> dict[str, Any]:
        if config is None:
            return {}
        found = tomllib.loads(config.read_text(encoding="utf-8"))
        if cls.table is not None and isinstance(own := found.get(cls.table), dict):
            return own
        return {name: value for name, value in found.items() if name not in cls.other_tables}

    @classmethod
    def _variable(cls, name: str) -> str:
        return f"{cls.model_config['env_prefix']}{name.upper()}"

    @classmethod
    def _warn_of_misspelt_variables(cls) -> None:
        """Warn of unknown variables that resemble a setting; others may not be ours."""
        prefix = cls.model_config["env_prefix"]
        settings = {cls._variable(name) for name in cls.model_fields}
        removed = {cls._variable(name) for name in cls.removed}
        foreign = tuple(f"{prefix}{table.upper()}_" for table in cls.other_tables)
        for variable in sorted(os.environ.keys() - settings - removed):
            if variable.startswith(prefix) and not (foreign and variable.startswith(foreign)):
                for meant in get_close_matches(variable, settings, n=1, cutoff=0.85):
                    warnings.warn(
                        f"{variable} is not a setting; did you mean {meant}?",
                        IlnWarning,
                        stacklevel=3,
                    )

    @classmethod
    def _message(cls, error: ValidationError) -> str:
        lines = []
        for detail in error.errors(include_url=False):
            name = str(detail["loc"][0]) if detail["loc"] else ""
            if name in cls.removed:
                lines.append(f"{name} was removed: {cls.removed[name]}")
                continue
            if name in cls.model_fields:
                what = f"{name} (--{name.replace('_', '-')}, {cls._variable(name)}): {told(detail)}"
            else:
                what = f"{name}: unknown setting{did_you_mean(name, cls.model_fields)}"
            what, question, meant = what.partition("; did you mean")
            # The options may contain a password, which must not reach the log.
            got = "" if name in cls.secret else f", got {detail['input']!r}"
            lines.append(f"{what}{got}{question}{meant}")
        return "\n".join(dict.fromkeys(lines))
