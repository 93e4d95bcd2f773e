"""How a command's settings are read: flags, variables and a TOML file."""

from iln_stream.settings.base import (
    ENV_PREFIX,
    CommandSettings,
    JsonObject,
    JsonPaths,
    NumberList,
    SettingsError,
    TextList,
    default_text,
    json_object,
    text_list,
)

__all__ = [
    "ENV_PREFIX",
    "CommandSettings",
    "JsonObject",
    "JsonPaths",
    "NumberList",
    "SettingsError",
    "TextList",
    "default_text",
    "json_object",
    "text_list",
]
