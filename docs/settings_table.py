"""Rewrites the tables of settings in README.md and in docs: http_api.md, page.md, spark.md."""

from pathlib import Path

from pydantic.fields import FieldInfo

from iln_stream.api import ApiSettings
from iln_stream.page import PageSettings
from iln_stream.service import Settings
from iln_stream.settings import CommandSettings, default_text
from iln_stream.spark.settings import SparkSettings

README = Path(__file__).parents[1] / "README.md"
TABLES: dict[Path, type[CommandSettings]] = {
    README: Settings,
    Path(__file__).parent / "http_api.md": ApiSettings,
    Path(__file__).parent / "page.md": PageSettings,
    Path(__file__).parent / "spark.md": SparkSettings,
}
BEGIN = "<!-- settings:begin -->"
END = "<!-- settings:end -->"


def table(kind: type[CommandSettings] = Settings) -> str:
    """Return the table, in Markdown."""
    head = "| flag | variable | TOML key | default | meaning |\n|---|---|---|---|---|\n"
    return head + "\n".join(_row(kind, name, field) for name, field in kind.model_fields.items())


def rewritten(text: str, kind: type[CommandSettings] = Settings) -> str:
    """Return a document's text with the table between its markers brought up to date."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"README.md has no place for the table: {BEGIN} and, below it, {END}")
    return f"{before}{BEGIN}\n{table(kind)}\n{END}{after}"


def _row(kind: type[CommandSettings], name: str, field: FieldInfo) -> str:
    default = field.get_default(call_default_factory=True)
    cells = (
        f"`--{name.replace('_', '-')}`",
        f"`{kind.model_config['env_prefix']}{name.upper()}`",
        f"`{name}`",
        "unset" if default in (None, ()) else f"`{default_text(default)}`",
        (field.description or "").replace("|", "\\|"),
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    for file, kind in TABLES.items():
        file.write_text(rewritten(file.read_text(encoding="utf-8"), kind), encoding="utf-8")
