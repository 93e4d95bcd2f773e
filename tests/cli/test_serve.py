"""`iln-stream serve`: what it needs."""

import subprocess
import sys

from support.command_line import environment, iln


def test_without_the_extra(tmp_path):
    """Without its extra, the command says which one to install, and no other command needs it."""
    program = (
        "import sys\n"
        "for name in ('fastapi', 'uvicorn', 'httptools', 'uvloop', 'httpx', 'starlette'):\n"
        "    sys.modules[name] = None\n"
        "from iln_stream.cli import main\n"
        "main()\n"
    )

    def run(*arguments):
        command = [sys.executable, "-c", program, *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
        )

    done = run("serve")
    assert done.returncode == 2
    assert "pip install 'iln-stream[api]'" in done.stderr
    assert run("run", "--help").returncode == 0
    assert run("serve", "--help").returncode == 0


def test_errors_name_the_setting(tmp_path):
    """A missing file of tokens ends the command with the setting's name."""
    done = iln("serve", "--token-file", "missing", cwd=tmp_path)
    assert done.returncode == 2
    assert "token_file = 'missing': No such file or directory" in done.stderr


def test_each_setting_is_a_flag(tmp_path):
    """The help has a flag for each setting."""
    text = iln("serve", "--help", cwd=tmp_path).stdout
    for flag in ("--models", "--events", "--token-file", "--tls-client-ca", "--max-backlog"):
        assert flag in text
