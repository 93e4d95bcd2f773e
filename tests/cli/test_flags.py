"""`with_settings`: the flags generated from the settings."""

import inspect
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from iln_stream.cli.flags import with_settings
from iln_stream.service import Settings
from iln_stream.settings import value_name


@pytest.fixture
def loaded(monkeypatch):
    """Return a function that runs a command line and returns its command's settings."""

    def run(*arguments):
        taken = []

        def command(settings: Settings) -> None:
            """Keep the settings."""
            taken.append(settings)

        app = typer.Typer()
        app.command()(with_settings(command))
        done = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return taken[0]

    for name in Settings.model_fields:
        monkeypatch.delenv(f"ILN_{name.upper()}", raising=False)
    return run


def test_one_flag_a_setting():
    """Each setting has a flag, those of earlier releases have one that is refused, and there are
    --config and --help-all."""
    parameters = inspect.signature(with_settings(lambda settings: None)).parameters
    assert set(parameters) == {"config", "help_all", *Settings.model_fields, *Settings.removed}


@pytest.mark.parametrize(
    ("name", "stands"),
    [
        *(("page_port", "PORT"), ("limit", "N"), ("profile", "accurate|fast"), ("live", None)),
        *(("types", "JSON"), ("id_field", "FIELD"), ("snapshot_seconds", "SECONDS")),
    ],
)
def test_what_stands_for_a_value(name, stands):
    """The help says what kind of value a setting takes, also if it may be unset."""
    assert value_name(Settings.model_fields[name]) == stands


def test_nothing_said(loaded):
    """Without flags the settings are the defaults."""
    assert loaded().model_dump() == Settings.load().model_dump()


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        (["--partitions", "0,3"], "partitions", "0,3"),
        (["--limit", "5"], "limit", 5),
        (["--no-stop-at-end"], "stop_at_end", False),
        (["--learner-options", '{"budget": 5}'], "learner_options", {"budget": 5}),
    ],
)
def test_values(loaded, arguments, name, value):
    """A flag sets its setting."""
    assert getattr(loaded(*arguments), name) == value


def test_switch_that_is_not_given(loaded, monkeypatch):
    """A switch that is not given leaves the variable's value, and --no-... overrides it."""
    monkeypatch.setenv("ILN_STOP_AT_END", "true")
    assert loaded().stop_at_end is True
    assert loaded("--no-stop-at-end").stop_at_end is False


def test_parameter_in_place_of_a_flag(monkeypatch):
    """A parameter with a setting's name replaces its flag, and overrides the variable."""
    taken = []

    def command(settings: Settings, topic: Annotated[str, typer.Argument()], n: int = 1) -> None:
        """Keep the settings."""
        taken.append((settings.topic, settings.limit, topic, n))

    monkeypatch.setenv("ILN_TOPIC", "of-the-variable")
    app = typer.Typer()
    app.command()(with_settings(command))
    done = CliRunner().invoke(app, ["t", "--limit", "5", "--n", "3"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert taken == [("t", 5, "t", 3)]
    assert CliRunner().invoke(app, ["t", "--topic", "u"]).exit_code == 2
