"""Every setting of the page: its name, type, default and description."""

from typing import Literal

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from iln_stream.settings import ENV_PREFIX, CommandSettings


class PageSettings(CommandSettings):
    """Settings of `iln-stream page`. Flags override variables, which override the TOML file."""

    model_config = SettingsConfigDict(env_prefix=f"{ENV_PREFIX}PAGE_", extra="forbid", frozen=True)

    table = "page"

    learner: str = Field(
        default="http://127.0.0.1:9108",
        pattern=r"^https?://[^@/?#]+/?$",
        description="Address of the learner's metrics (`metrics_host` and `metrics_port` of "
        "`iln-stream run`), without a path.",
    )
    host: str = Field(
        default="127.0.0.1",
        description="Address to listen on. Anyone who can reach it can read the latest events and "
        "dead letters.",
    )
    port: int = Field(
        default=8090, ge=0, le=65535, description="Port to listen on; 0 picks a free one."
    )
    poll_seconds: float = Field(
        default=1.0,
        ge=0.1,
        le=60.0,
        description="Seconds between two requests to the learner while a browser shows the page; "
        "ten times as many while none does.",
    )
    browsers: int = Field(
        default=100, ge=1, description="Number of browsers that may show the page at the same time."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info",
        description="Minimum level of the log: `debug`, `info`, `warning` or `error`.",
    )
    log_format: Literal["text", "json"] = Field(
        default="text",
        description="`text`, or `json`: one object per line, with time, level, logger, message and "
        "exception.",
    )
