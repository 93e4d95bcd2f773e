"""Runs `iln-stream`, as imported by these tests, in its own process."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import iln_stream

COMMAND = [sys.executable, "-c", "from iln_stream.cli import main; main()"]


def environment(**variables: str) -> dict[str, str]:
    """This process's environment without ILN_* variables, where iln_stream can be imported."""
    inherited = {name: v for name, v in os.environ.items() if not name.startswith("ILN_")}
    home = str(Path(iln_stream.__file__).parents[1])
    return {**inherited, "PYTHONPATH": home, "COLUMNS": "200", "NO_COLOR": "1", **variables}


def iln(
    *arguments: str, cwd: Path, timeout: float = 60, **options: Any
) -> "subprocess.CompletedProcess[str]":
    """Run `iln-stream` to its end."""
    env = environment(**options.pop("env", {}))
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=cwd,
        env=env,
        timeout=timeout,
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
