"""Generates a flag for each setting."""

import inspect
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperOption

from iln_stream.service import GROUP_OF, Settings
from iln_stream.settings import CommandSettings, default_text, value_name


def with_settings(
    command: Callable[..., None],
    at_first: Callable[[Any], None] = lambda _: None,
    kind: type[CommandSettings] = Settings,
    only: Collection[str] | None = None,
    shown: Collection[str] = (),
) -> Callable[..., None]:
    """Turn a function of settings into a typer command with a flag for each setting.

    The function's other parameters become parameters of the command; one with a setting's name
    replaces that setting's flag and sets its value. `at_first` is called with the settings before
    the command runs. `only` names those settings that have flags; None: all. Of all settings of a
    run, `--help` shows the first sentences of those in `shown`, and `--help-all` shows them whole.
    """
    _, *others = inspect.signature(command, eval_str=True).parameters.values()
    others = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in others]
    names = [each.name for each in others]

    def run(config: Path | None, **flags: Any) -> None:
        own = {name: flags[name] for name in names}
        for name in own.keys() - kind.model_fields.keys():
            del flags[name]
        settings = kind.load(config, **flags)
        at_first(settings)
        command(settings, **own)

    variable = f"{kind.model_config['env_prefix']}CONFIG"
    option = typer.Option(envvar=variable, metavar="FILE", help="A TOML file of settings.")
    config = _keyword("config", Annotated[Path | None, option])
    wanted = only or (GROUP_OF if kind is Settings else kind.model_fields)
    wanted = [each for each in wanted if each not in names]
    whole = only is not None or kind is not Settings
    first = [_flag(kind, each, in_short=not whole) for each in wanted if whole or each in shown]
    rest = [_flag(kind, each, hidden=True) for each in wanted if not (whole or each in shown)]
    if rest:
        rest.append(_help_all(wanted))
    # Of settings that were removed: their error says what to do instead.
    unseen = Annotated[str | None, typer.Option(hidden=True)]
    gone = [_keyword(name, unseen) for name in kind.removed if name not in names]
    parameters = [config, *(first if rest else ()), *others, *(rest or first), *gone]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__name__ = command.__name__
    run.__doc__ = command.__doc__
    return run


def _keyword(name: str, annotation: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=None, annotation=annotation)


def _flag(
    kind: type[CommandSettings], name: str, *, in_short: bool = False, hidden: bool = False
) -> inspect.Parameter:
    option = typer.Option(
        help=_help(kind, name, in_short=in_short),
        metavar=value_name(kind.model_fields[name]),
        rich_help_panel=GROUP_OF[name] if hidden else None,
        hidden=hidden,
    )
    # A flag takes any text: Settings checks the values, with better error messages.
    is_switch = kind.model_fields[name].annotation in (bool, bool | None)
    return _keyword(name, Annotated[(bool if is_switch else str) | None, option])


def _help(kind: type[CommandSettings], name: str, *, in_short: bool = False) -> str:
    field = kind.model_fields[name]
    text = field.description or ""
    if in_short:
        text = text.partition(". ")[0].removesuffix(".") + "."
    default = field.get_default(call_default_factory=True)
    return f"{text} [default: `{default_text(default)}`]" if default else text


def _help_all(names: Collection[str]) -> inspect.Parameter:
    """Return the flag that shows the help with these settings of a run, too."""

    def show(context: typer.Context, wanted: bool | None) -> None:
        if wanted:
            for each in context.command.params:
                if each.name in names and isinstance(each, TyperOption):
                    each.hidden, each.help = False, _help(Settings, each.name)
            typer.echo(context.get_help())
            raise typer.Exit

    text = "Show all settings of a run, too: each is a flag, a variable and a key of the file."
    option = typer.Option("--help-all", callback=show, is_eager=True, help=text)
    return _keyword("help_all", Annotated[bool | None, option])
