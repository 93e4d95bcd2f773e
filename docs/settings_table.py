"""Rewrites the tables of settings in settings.md, http_api.md, deploy.md and scaling.md."""

from collections.abc import Iterable
from pathlib import Path

from generated import rewritten_part

from iln_stream.service import SETTING_GROUPS, Settings
from iln_stream.serving.settings import ApiSettings, PageSettings
from iln_stream.settings import CommandSettings, default_text
from iln_stream.spark.settings import SparkSettings

DOCS = Path(__file__).parent
TABLES: dict[Path, type[CommandSettings]] = {
    DOCS / "settings.md": Settings,
    DOCS / "http_api.md": ApiSettings,
    DOCS / "deploy.md": PageSettings,
    DOCS / "scaling.md": SparkSettings,
}


def tables(kind: type[CommandSettings] = Settings) -> str:
    """Return the settings as Markdown: those of `run` by subject, others in one table."""
    if kind is not Settings:
        return table(kind, kind.model_fields)
    return "\n\n".join(
        f"## {group}\n\n{table(kind, names)}" for group, names in SETTING_GROUPS.items()
    )


def table(kind: type[CommandSettings], names: Iterable[str]) -> str:
    """Return some settings as a table."""
    head = "| setting | default | meaning |\n|---|---|---|\n"
    return head + "\n".join(_row(kind, name) for name in names)


def rewritten(text: str, kind: type[CommandSettings] = Settings) -> str:
    """Return a document's text with the settings between its markers brought up to date."""
    return rewritten_part(text, "settings", tables(kind))


def _row(kind: type[CommandSettings], name: str) -> str:
    field = kind.model_fields[name]
    default = field.get_default(call_default_factory=True)
    cells = (
        f'<a id="{name}"></a>`{name}`',
        "unset" if default in (None, ()) else _shown(default_text(default)),
        (field.description or "").replace("|", "\\|"),
    )
    return f"| {' | '.join(cells)} |"


def _shown(text: str) -> str:
    """Return a default as code; of a long list the beginning, as `--help-all` has the rest."""
    return f"`{text}`" if len(text) < 60 else f"`{text[:17].rpartition(',')[0]}` ..."


if __name__ == "__main__":
    for file, kind in TABLES.items():
        file.write_text(rewritten(file.read_text(encoding="utf-8"), kind), encoding="utf-8")
