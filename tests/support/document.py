"""Runs the shell blocks of a page of the documents."""

import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

from support.command_line import COMMAND, environment

DOCS = Path(__file__).parents[2] / "docs"


def blocks(name: str, language: str) -> list[str]:
    """Return the blocks of a language of a page."""
    page = (DOCS / name).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


class Code(NamedTuple):
    """A fenced block: its page, its language, and its text without the page's indentation."""

    page: str
    language: str
    text: str


def _all_blocks() -> list[Code]:
    fenced = re.compile(r"^( *)```(\S*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
    return [
        Code(page.name, block[2], textwrap.dedent(block[3]))
        for page in (*sorted(DOCS.glob("*.md")), DOCS.parent / "README.md")
        for block in fenced.finditer(page.read_text(encoding="utf-8"))
    ]


BLOCKS = _all_blocks()
"""The blocks of all pages, in their order."""


def run_shell_blocks(
    name: str, folder: Path, most: int | None = None, **variables: str
) -> list[str]:
    """Run a page's (first) shell blocks in a folder, in order; return what each printed."""
    outputs = []
    for text in blocks(name, "sh")[:most]:
        command = re.sub(r"^iln-stream ", f"{shlex.join(COMMAND)} ", text, flags=re.M)
        command = re.sub(r"^python ", f"{shlex.quote(sys.executable)} ", command, flags=re.M)
        done = subprocess.run(
            ["bash", "-e", "-c", command], cwd=folder, env=environment(**variables),
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout + done.stderr)
    return outputs


def run_script(script: str, folder: Path) -> str:
    """Run a script that leaves processes in the background in bash, and end them."""
    program = folder / "bin" / "iln-stream"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n')
    program.chmod(0o755)
    done = subprocess.run(
        ["bash", "-c", f"set -e\ntrap 'kill $(jobs -p)' EXIT\n{script}"],
        cwd=folder,
        env=environment(
            PATH=f"{program.parent}{os.pathsep}{os.environ['PATH']}", NO_PROXY="127.0.0.1"
        ),
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
