"""Rewrites docs/commands.md: every command of `iln-stream` with its arguments and options."""

from collections.abc import Iterator
from pathlib import Path

import click
from generated import rewritten_part
from typer.main import get_command

from iln_stream.cli.app import app
from iln_stream.service import Settings
from iln_stream.serving.settings import ApiSettings, PageSettings

PAGE = Path(__file__).parent / "commands.md"

SETTINGS = {
    "settings.md": frozenset(Settings.model_fields),
    "http_api.md#settings": frozenset(ApiSettings.model_fields),
    "deploy.md#settings-of-the-page": frozenset(PageSettings.model_fields),
}
"""Names of settings by the page that lists them."""

COMMON = ("config", "help_all")
"""Options that many commands have, which the head of the page explains."""


def sections() -> str:
    """Return all commands in Markdown, a section each."""
    return "\n\n".join(_commands(get_command(app), "iln-stream"))


def _commands(group: click.Command, path: str) -> Iterator[str]:
    for name, command in sorted(group.commands.items()):  # type: ignore[attr-defined]
        if hasattr(command, "commands"):
            yield from _commands(command, f"{path} {name}")
        elif not command.hidden:
            yield _section(command, f"{path} {name}")


def _section(command: click.Command, path: str) -> str:
    options = [
        each
        for each in command.params
        if each.param_type_name == "option"
        and each.name not in COMMON
        and (each.name in Settings.model_fields or not each.hidden)
    ]
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    parts = [f"## {path}", _paragraph(command.help)]
    if arguments:
        parts.insert(1, f"`{' '.join((path, *map(_usage, arguments)))}`")
    for page, settings in SETTINGS.items():
        named = [each for each in options if each.name in settings]
        if len(named) > 0.8 * len(settings):
            parts.append(f"Takes all [settings]({page}).")
            break
    else:
        named = [each for each in options if _is_setting(each)]
        if named:
            flags = ", ".join(f"`{each.opts[0]}`" for each in named)
            parts.append(f"Takes these [settings](settings.md): {flags}.")
    options = [each for each in options if each not in named]
    if rows := [_row(each) for each in (*arguments, *options)]:
        parts.append("\n".join(("| option | meaning |", "|---|---|", *rows)))
    return "\n\n".join(parts)


def _is_setting(option: click.Parameter) -> bool:
    """Return whether an option is a setting of `run`, with its meaning."""
    field = Settings.model_fields.get(option.name or "")
    meaning = _paragraph(getattr(option, "help", None))
    return field is not None and meaning.startswith(_paragraph(field.description))


def _usage(argument: click.Parameter) -> str:
    name = (argument.name or "").upper() + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _row(parameter: click.Parameter) -> str:
    names = ", ".join(f"`{each}`" for each in (*parameter.opts, *parameter.secondary_opts))
    if parameter.param_type_name == "argument":
        names = f"`{_usage(parameter)}`"
    meaning = _paragraph(getattr(parameter, "help", None)).replace("|", "\\|")
    return f"| {names} | {meaning} |"


def _paragraph(text: str | None) -> str:
    return " ".join((text or "").split())


def rewritten(text: str) -> str:
    """Return the page's text with the commands between its markers brought up to date."""
    return rewritten_part(text, "commands", sections())


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
