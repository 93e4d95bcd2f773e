"""One flag for each setting, made from the settings themselves."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from iln_stream.service import ENV_PREFIX, Settings, SettingsError


def with_settings(
    command: Callable[..., None],
    at_first: Callable[[Settings], None] = lambda _: None,
    refused: Callable[[SettingsError], None] = lambda _: None,
) -> Callable[..., None]:
    """Turn a function of `Settings` into a typer command with a flag for every setting.

    What else the function takes stays a parameter of the command. A parameter that has a setting's
    name is given in place of its flag, and is the setting's value. `at_first` is told of the
    settings before the command is, and `refused` of those that can't be used before their error is
    raised.
    """
    _, *others = inspect.signature(command, eval_str=True).parameters.values()
    others = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in others]
    names = [each.name for each in others]

    def run(config: Path | None, **flags: Any) -> None:
        own = {name: flags[name] for name in names}
        for name in own.keys() - Settings.model_fields.keys():
            del flags[name]
        try:
            settings = Settings.load(config, **flags)
        except SettingsError as error:
            refused(error)
            raise
        at_first(settings)
        command(settings, **own)

    config = inspect.Parameter(
        "config",
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[
            Path | None, typer.Option(envvar=f"{ENV_PREFIX}CONFIG", help="A TOML file of settings.")
        ],
    )
    settings = [_flag(name) for name in Settings.model_fields if name not in names]
    parameters = [config, *others, *settings]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__name__ = command.__name__
    run.__doc__ = command.__doc__
    return run


def _flag(name: str) -> inspect.Parameter:
    field = Settings.model_fields[name]
    default = field.get_default(call_default_factory=True)
    option = typer.Option(help=field.description, show_default=str(default) if default else False)
    # Values are checked by Settings, which names every spelling; here they are just words.
    word = bool if field.annotation is bool else str
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[word | None, option],
    )
