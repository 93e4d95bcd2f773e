"""`python -m iln_stream`."""

import subprocess
import sys

from support.command_line import environment

from iln_stream._version import __version__


def test_is_the_command_iln_stream(tmp_path):
    """Where the command is not on the path, `python -m` runs it."""
    done = subprocess.run(
        [sys.executable, "-m", "iln_stream", "--version"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert __version__ in done.stdout
