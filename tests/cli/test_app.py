"""The commands: version, help and errors."""

import subprocess
import sys

from support.command_line import environment

from iln_stream._version import __version__


def test_version():
    """--version shows the package's version, and does not need the demo's extra packages."""
    program = (
        "import sys\n"
        "sys.modules['matplotlib'] = None\n"
        "sys.argv = ['iln-stream', '--version']\n"
        "from iln_stream.cli import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, f"{__version__}\n"), done.stderr


def test_no_command(command):
    """Without a command, the commands are listed."""
    done = command()
    for name in ("run", "replay", "demo", "doctor"):
        assert f" {name} " in done.out + done.err


def test_replay_help(command):
    """`replay --help` lists its parameters."""
    done = command("replay", "--help")
    assert done.code == 0
    for flag in ("--topic", "--rate", "--limit", "--target", "--bootstrap", "--seed"):
        assert f" {flag} " in done.out


def test_replay_without_a_source(command):
    """`replay` without a source is an error that names it."""
    done = command("replay")
    assert done.code == 2
    assert "Missing argument" in done.err


def test_replay_of_nothing(command):
    """An error about the source comes before any connection to a broker."""
    done = command("replay", "nowhere.jsonl")
    assert done == (2, "", "error: can't read nowhere.jsonl: No such file or directory\n")
