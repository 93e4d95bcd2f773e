"""Runs `iln-stream`, as imported by these tests, in its own process."""

import functools
import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import iln_stream
from support.fork_server import ForkedCommand, ForkServer

_MAIN = "from iln_stream.cli import main; main()"

COMMAND = [sys.executable, "-c", _MAIN]

_WARM_UP = """
import kafka, iln_stream.cli.app, iln_stream.cli.run
from iln_stream.service.warming import Warming
for learner in ("accurate", "fast", "classifier", "shrinking-gradient"):
    Warming(learner, lambda *_: None).run()
"""


def environment(**variables: str) -> dict[str, str]:
    """This process's environment without ILN_* variables, where iln_stream can be imported."""
    inherited = {name: v for name, v in os.environ.items() if not name.startswith("ILN_")}
    home = str(Path(iln_stream.__file__).parents[1])
    return {**inherited, "PYTHONPATH": home, "COLUMNS": "200", "NO_COLOR": "1", **variables}


def iln(
    *arguments: str, cwd: Path, timeout: float = 60, env: Mapping[str, str] = {}, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run `iln-stream` to its end; `env` are more variables, `stdin` is its standard input."""
    with _text_file() as given, _text_file() as out, _text_file() as err:
        given.write(stdin)
        given.seek(0)
        process = start(arguments, cwd, (given, out, err), **env)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(arguments, code, out.read(), err.read())


def python(
    program: str, *arguments: str, cwd: Path | None = None, stdin: str = "", timeout: float = 100
) -> subprocess.CompletedProcess[str]:
    """Run a Python program in an interpreter of its own."""
    return subprocess.run(
        [sys.executable, "-P", "-c", program, *arguments],
        cwd=cwd, env=environment(), input=stdin, capture_output=True, text=True,
        timeout=timeout, check=False,
    )  # fmt: skip


def start(
    arguments: tuple[str, ...],
    folder: Path,
    files: tuple[IO[Any], IO[Any], IO[Any]],
    under: Sequence[str] = (),
    **variables: str,
) -> ForkedCommand | subprocess.Popen[bytes]:
    """Start `iln-stream`; `files` are its standard input, output and error.

    It is the fork of a server, unless it runs under another command or has variables that libraries
    may read at their import.
    """
    wanted = environment(**variables)
    if not under and _fixed(wanted) == _FIXED:
        return next(_SERVERS)().start(arguments, folder, wanted, files)
    stdin, stdout, stderr = files
    return subprocess.Popen(
        [*under, *COMMAND, *arguments],
        cwd=folder,
        env=wanted,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
    )


def _text_file() -> IO[str]:
    return tempfile.TemporaryFile("w+", encoding="utf-8")


def _fixed(variables: dict[str, str]) -> dict[str, str]:
    """Return the variables that a fork shares with its server."""
    return {
        name: value
        for name, value in variables.items()
        if name == "ILN_CPU_BASELINE" or not name.startswith(("ILN_", "PYTEST_"))
    }


_FIXED = _fixed(environment())


@functools.cache
def _server(hash_seed: int) -> ForkServer:
    return ForkServer({**_FIXED, "PYTHONHASHSEED": str(hash_seed)}, _WARM_UP, _MAIN)


# Executed commands all order their sets differently; these take turns.
_SERVERS = itertools.cycle([functools.partial(_server, 1), functools.partial(_server, 2)])
