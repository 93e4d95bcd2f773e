"""A forked command behaves like an executed one."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.fork_server import ForkedCommand, ForkServer

MAIN = """
import atexit, os, sys, time, warmed_up
atexit.register(print, "the end")
print(sys.argv, os.getcwd(), os.environ.get("WORD"), sys.stdin.read())
if "wait" in sys.argv:
    print("waits", flush=True)
    time.sleep(60)
sys.exit(int(sys.argv[1]))
"""

WARM_UP = "import sys, types; sys.modules['warmed_up'] = types.ModuleType('warmed_up')"


@pytest.fixture(scope="module")
def server() -> ForkServer:
    return ForkServer(os.environ, WARM_UP, MAIN)


@pytest.fixture
def started(server: ForkServer, tmp_path: Path) -> Iterator[Any]:
    """Starts a command whose output goes to the files `out` and `err`."""
    commands: list[ForkedCommand] = []
    (tmp_path / "in").write_text("hello")

    def start(*arguments: str, **variables: str) -> ForkedCommand:
        with (
            (tmp_path / "in").open() as given,
            (tmp_path / "out").open("w") as out,
            (tmp_path / "err").open("w") as err,
        ):
            commands.append(
                server.start(arguments, tmp_path, {**os.environ, **variables}, (given, out, err))
            )
        return commands[-1]

    yield start
    for each in commands:
        each.kill()


def wait_for_output(folder: Path, word: str) -> None:
    with subprocess.Popen(["tail", "-f", "-n", "+1", folder / "out"], stdout=-1, text=True) as tail:
        assert tail.stdout is not None
        assert any(word in line for line in tail.stdout)
        tail.kill()


def test_a_command_has_its_arguments_folder_environment_and_files(
    started: Any, tmp_path: Path
) -> None:
    """What a test gives to a command reaches it, and its output and exit code come back."""
    assert started("7", "a b", WORD="tree").wait(10) == 7
    said = (tmp_path / "out").read_text()
    assert said == f"['-c', '7', 'a b'] {tmp_path} tree hello\nthe end\n"
    assert (tmp_path / "err").read_text() == ""


def test_an_error_ends_it_as_in_a_process_of_its_own(started: Any, tmp_path: Path) -> None:
    """An unexpected exception gives a traceback and exit code 1."""
    assert started("seven").wait(10) == 1
    assert "ValueError: invalid literal for int()" in (tmp_path / "err").read_text()
    assert (tmp_path / "out").read_text().endswith("the end\n")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_as_any_process(
    started: Any, tmp_path: Path, number: signal.Signals
) -> None:
    """Kills reach the command itself, and its end is reported as subprocess would."""
    command = started("0", "wait")
    wait_for_output(tmp_path, "waits")
    with pytest.raises(subprocess.TimeoutExpired):
        command.wait(0.01)
    assert command.poll() is None
    command.send_signal(number)
    assert command.wait(10) == -number
    command.kill()  # of an ended command does nothing


def test_commands_run_side_by_side(started: Any, tmp_path: Path) -> None:
    """The server starts a command while others run, and reports each end to its own caller."""
    waiting = started("0", "wait")
    assert [started(str(code)).wait(10) for code in (3, 4)] == [3, 4]
    assert waiting.poll() is None


def test_the_server_ends_with_the_tests() -> None:
    """A server whose tests were killed does not stay."""
    tests = (
        "import os; from support.fork_server import ForkServer;"
        "server = ForkServer(os.environ, 'print(\\'warm\\', flush=True)', '');"
        "null = open(os.devnull, 'r+');"
        "server.start([], '/', os.environ, (null, null, null)).wait(10);"
        "os.kill(os.getpid(), 9)"
    )
    folder = str(Path(__file__).parents[1])
    with subprocess.Popen(
        [sys.executable, "-c", tests], env={**os.environ, "PYTHONPATH": folder}, stdout=-1
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read() == b"warm\n"  # the server holds this pipe until it ends
