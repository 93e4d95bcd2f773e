"""One flag for each setting, made from the settings themselves."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from iln_stream.service import ENV_PREFIX, Settings


def with_settings(command: Callable[[Settings], None]) -> Callable[..., None]:
    """Turn a function of `Settings` into a typer command with a flag for every setting."""

    def run(config: Path | None, **flags: Any) -> None:
        command(Settings.load(config, **flags))

    config = inspect.Parameter(
        "config",
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[
            Path | None, typer.Option(envvar=f"{ENV_PREFIX}CONFIG", help="A TOML file of settings.")
        ],
    )
    parameters = [config, *(_flag(name) for name in Settings.model_fields)]
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
