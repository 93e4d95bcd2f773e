"""Rewrites the table of settings in README.md from the settings themselves."""

from pathlib import Path

from pydantic.fields import FieldInfo

from iln_stream.service import ENV_PREFIX, Settings

README = Path(__file__).parents[1] / "README.md"
BEGIN = "<!-- settings:begin -->"
END = "<!-- settings:end -->"


def table() -> str:
    """Return the table, in Markdown."""
    head = "| flag | variable | TOML key | default | meaning |\n|---|---|---|---|---|\n"
    return head + "\n".join(_row(name, field) for name, field in Settings.model_fields.items())


def rewritten(readme: str) -> str:
    """Return a README's text with the table between its markers brought up to date."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"README.md has no place for the table: {BEGIN} and, below it, {END}")
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def _row(name: str, field: FieldInfo) -> str:
    default = field.get_default(call_default_factory=True)
    cells = (
        f"`--{name.replace('_', '-')}`",
        f"`{ENV_PREFIX}{name.upper()}`",
        f"`{name}`",
        "unset" if default is None else f"`{_toml(default)}`",
        (field.description or "").replace("|", "\\|"),
    )
    return f"| {' | '.join(cells)} |"


def _toml(default: object) -> str:
    return str(default).lower() if isinstance(default, bool) else str(default)


if __name__ == "__main__":
    README.write_text(rewritten(README.read_text(encoding="utf-8")), encoding="utf-8")
