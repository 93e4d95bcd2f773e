"""Generates a flag for each setting."""

import inspect
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated, Any

import typer

from iln_stream.service import GROUP_OF, Settings
from iln_stream.settings import CommandSettings, default_text


def with_settings(
    command: Callable[..., None],
    at_first: Callable[[Any], None] = lambda _: None,
    kind: type[CommandSettings] = Settings,
    only: Collection[str] | None = None,
) -> Callable[..., None]:
    """Turn a function of settings into a typer command with a flag for each setting.

    The function's other parameters become parameters of the command; one with a setting's name
    replaces that setting's flag and sets its value. `at_first` is called with the settings before
    the command runs. `only` names those settings that have flags; None: all.
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

    config = inspect.Parameter(
        "config",
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[
            Path | None,
            typer.Option(
                envvar=f"{kind.model_config['env_prefix']}CONFIG", help="A TOML file of settings."
            ),
        ],
    )
    wanted = only or (GROUP_OF if kind is Settings else kind.model_fields)  # in order of --help
    settings = [_flag(kind, name) for name in wanted if name not in names]
    gone = [_refused_flag(name) for name in kind.removed if name not in names]
    parameters = [config, *others, *settings, *gone]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__name__ = command.__name__
    run.__doc__ = command.__doc__
    return run


def _refused_flag(name: str) -> inspect.Parameter:
    """Return a hidden flag for a setting that was removed, whose error says what to do instead."""
    option = typer.Option(hidden=True)
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=None, annotation=Annotated[str | None, option])


def _flag(settings: type[CommandSettings], name: str) -> inspect.Parameter:
    field = settings.model_fields[name]
    default = field.get_default(call_default_factory=True)
    shown = default_text(default) if default else False
    panel = GROUP_OF.get(name) if settings is Settings else None
    option = typer.Option(help=field.description, show_default=shown, rich_help_panel=panel)
    # A flag takes any text: Settings checks the values, with better error messages.
    kind = bool if field.annotation in (bool, bool | None) else str
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, option],
    )
