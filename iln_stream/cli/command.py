"""What all commands share: the consoles, and a flag for each setting."""

import inspect
import os
from collections.abc import Callable, Collection
from typing import Any, TypeVar

import typer
from pydantic.fields import FieldInfo
from rich.console import Console
from typer.core import TyperCommand, TyperGroup

from iln_stream.cli import flags
from iln_stream.cli.logs import set_up_logging
from iln_stream.service import Settings
from iln_stream.serving.settings import ApiSettings, PageSettings
from iln_stream.settings import value_name

console = Console(stderr=True)

_IN_A_FILE = 100
"""Columns of tables that no terminal shows."""


def output() -> Console:
    """Return a console for standard output; piped into a pager, it has the terminal's width."""
    found = Console()
    if not found.is_terminal and "COLUMNS" not in os.environ:
        found.width = console.width if console.is_terminal else _IN_A_FILE
    return found


class _Switches:
    def get_params(self, ctx: Any) -> Any:
        """Return the parameters; a switch has no kind of value, which the help would show."""
        params = super().get_params(ctx)  # type: ignore[misc]
        for each in params:
            if getattr(each, "is_flag", False):
                each.metavar = ""
        return params


class _Command(_Switches, TyperCommand):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; `--forget` may have no value, which Typer does not know of."""
        ends = [*(each.startswith("--") for each in args[1:]), True]
        given = zip(args, ends, strict=True) if args else ()
        args = [f"{each}=" if each == "--forget" and end else each for each, end in given]
        return super().parse_args(ctx, args)


class _Group(_Switches, TyperGroup):
    pass


_Any = TypeVar("_Any", bound=Callable[..., Any])


class Commands(typer.Typer):
    """Commands whose help names values as that of settings does, and gives an example."""

    def __init__(self, **options: Any) -> None:
        super().__init__(cls=_Group, **options)

    def command(
        self, name: str | None = None, example: str = "", **options: Any
    ) -> Callable[[_Any], _Any]:
        """Return the decorator that adds a command."""
        if example:
            options["epilog"] = f"Example: `iln-stream {example}`"
        add = super().command(name, cls=_Command, **options)

        def added(function: _Any) -> _Any:
            for each in inspect.signature(function, eval_str=True).parameters.values():
                field = FieldInfo.from_annotation(each.annotation)
                for info in field.metadata:
                    is_argument = isinstance(info, typer.models.ArgumentInfo)
                    value = each.name.upper() if is_argument else value_name(field)
                    info.metavar = info.metavar or ("PATH" if value == "FILE" else value)
            return add(function)

        return added


def with_settings(
    command: Callable[..., None],
    kind: type[Settings | ApiSettings | PageSettings] = Settings,
    only: Collection[str] | None = None,
    shown: Collection[str] = (),
) -> Callable[..., None]:
    """Turn a function of settings into a command that logs as configured."""

    def configure_log(settings: Settings | ApiSettings | PageSettings) -> None:
        set_up_logging(console, settings.log_level, settings.log_format)

    return flags.with_settings(command, configure_log, kind, only, shown)
