"""The commands: version, help and errors."""

import pytest
from rich.table import Table
from support.command_line import python

from iln_stream._version import __version__
from iln_stream.cli.command import output


def test_version():
    """`python -m iln_stream --version` shows the package's version, without the demo's packages."""
    program = (
        "import runpy, sys\n"
        "sys.modules['matplotlib'] = None\n"
        "sys.argv = ['iln-stream', '--version']\n"
        "runpy.run_module('iln_stream', run_name='__main__')\n"
    )
    done = python(program)
    assert (done.returncode, done.stdout) == (0, f"{__version__}\n"), done.stderr


def test_no_command(command):
    """Without a command, the commands are listed; a missing argument is an error that says so."""
    done = command("replay")
    assert done.code == 2
    assert "Missing argument" in done.err
    done = command()
    for name in ("run", "replay", "demo", "doctor"):
        assert f" {name} " in done.out + done.err


def test_a_switch_has_no_kind_of_value(command):
    """The help of commands and of groups shows what a flag takes, and of a switch nothing."""
    for given in (["run"], ["inspect"], ["log"], ["log", "create"]):
        found = command(*given, "--help").out
        assert "--help" in found
        assert "bool" not in found.replace("boolean", "")


def test_the_help_names_values_and_has_an_example(command):
    """Of our own options as of settings; none shows a type of Python."""
    for name in ("plot", "export", "versions", "replay", "log tail"):
        found = command(*name.split(), "--help").out
        options = found.partition("Options")[2]
        assert f"Example: iln-stream {name} " in options
        assert "<" not in options


def test_replay_of_nothing(command):
    """An error about the source comes before any connection to a broker."""
    done = command("replay", "nowhere.jsonl")
    assert done == (2, "", "error: can't read nowhere.jsonl: No such file or directory\n")


LONG = "a reason of many words " * 20


@pytest.fixture
def shown(monkeypatch, capsys):
    monkeypatch.delenv("COLUMNS", raising=False)

    def show():
        table = Table("reason")
        table.add_row(LONG)
        output().print(table)
        return capsys.readouterr().out

    return show


def test_a_table_in_a_file_is_wrapped_not_cut(shown):
    """A file has all of a text, in lines that people can read."""
    said = shown()
    assert max(map(len, said.splitlines())) == 100
    assert said.count("reason of many words") + said.count("reason of many\n") >= 10


def test_a_width_that_the_user_chose_is_kept(shown, monkeypatch):
    """`COLUMNS` is the usual variable for it."""
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, shown().splitlines())) == 60
