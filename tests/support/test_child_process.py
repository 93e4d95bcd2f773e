"""Servers that tests start end with them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "program",
    [
        "from support.fork_server import ForkServer;"
        "server = ForkServer(os.environ, 'print(\\'warm\\', flush=True)', '');"
        "null = open(os.devnull, 'r+');"
        "server.start([], '/', os.environ, (null, null, null)).wait(10)",
        "from support.child_process import run_when_this_process_dies;"
        "server = subprocess.Popen(['sleep', '600']);"
        "run_when_this_process_dies(['kill', '-KILL', str(server.pid)]); print('warm', flush=True)",
    ],
    ids=["fork server", "another"],
)
def test_servers_end_with_the_tests(program: str) -> None:
    """A server whose tests were killed does not stay."""
    command = [sys.executable, "-c", f"import os, subprocess; {program}; os.kill(os.getpid(), 9)"]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    with subprocess.Popen(command, env=environment, stdout=-1) as process:
        assert process.stdout is not None
        assert process.stdout.read() == b"warm\n"  # the server holds this pipe until it ends
