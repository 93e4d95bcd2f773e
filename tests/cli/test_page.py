"""`iln-stream serve`, `page`, and the page of a run: what they need, and how they end."""

import re
import socket
import subprocess
from pathlib import Path

import httpx
import pytest
from support.command_line import iln, python
from support.embedded_log import append
from support.page_runs import FAST, Run, events
from support.ports import free_port
from support.running_api import eventually
from support.running_command import Command
from support.web import answers

WITHOUT_EXTRA = """
import sys
from importlib.machinery import PathFinder
missing = ("fastapi", "uvicorn", "httptools", "uvloop", "httpx", "starlette")
find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *more: None if name in missing else find(name, *more)
from iln_stream.cli import main
main()
"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    "arguments",
    [
        ("serve",),
        ("page",),
        ("run", "--source", "sqlite:log.db", "--page-port", "0", "--metrics-port", "0"),
        ("serve", "--help"),
    ],
)
def test_without_the_extra(tmp_path, arguments):
    """Without its extra, they say which one to install; the help needs none."""
    append(tmp_path / "log.db", events(0, 1))
    done = python(WITHOUT_EXTRA, *arguments, cwd=tmp_path)
    assert done.returncode == (0 if "--help" in arguments else 2)
    assert ("pip install 'iln-stream[api]'" in done.stderr) == ("--help" not in arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("serve", "--token-file", "missing"), "token_file = 'missing': No such file or directory"),
        pytest.param(
            ("page", "--learner", "127.0.0.1:9108"), "learner", marks=pytest.mark.thorough
        ),
        pytest.param(("page", "--poll-seconds", "0"), "poll_seconds", marks=pytest.mark.thorough),
        (("run", "--page-port", "0", "--no-live"), "page_port: the page reads /live"),
    ],
)
def test_errors_name_the_setting(tmp_path, arguments, said):
    """A wrong setting ends the command with its name."""
    append(tmp_path / "log.db", events(0, 1))
    source = ("--source", "sqlite:log.db") if arguments[0] == "run" else ()
    done = iln(*arguments, *source, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_port_that_is_taken(tmp_path):
    """A run whose page can't listen ends at once, and names the setting."""
    append(tmp_path / "log.db", events(0, 1))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        arguments = ("--source", "sqlite:log.db", "--metrics-port", "0", "--page-port", port)
        done = iln("run", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert f"page_port = {port}: Address already in use; choose another port" in done.stderr


@pytest.mark.thorough
def test_the_page_of_a_run_ends_with_it(tmp_path):
    """However the run ends, its page does, too, so that a restart finds the port free."""
    append(tmp_path / "log.db", events(0, 50))
    port = free_port()
    for end in (Command.kill, Command.terminate):
        run = Run(tmp_path, *FAST, "--page-port", str(port))
        with run.command:
            assert run.url == f"http://127.0.0.1:{port}"
            eventually(lambda: answers(f"http://127.0.0.1:{port}/"))
            end(run.command)
        eventually(lambda: not answers(f"http://127.0.0.1:{port}/"))


def test_learning_goes_on_without_the_page(tmp_path):
    """If the page's process dies, the run says so and learns on."""
    append(tmp_path / "log.db", events(0, 50))
    run = Run(tmp_path, *FAST)
    with run.command:
        run.learned(50)
        children = Path(f"/proc/{run.command.pid}/task/{run.command.pid}/children")
        eventually(lambda: answers(run.url))
        (child,) = children.read_text().split()
        subprocess.run(["kill", "-KILL", child], check=True)
        run.command.wait_until_it_says("learning goes on without it")
        append(tmp_path / "log.db", events(50, 80))
        run.learned(80)


def test_a_signal_ends_the_page(tmp_path):
    """SIGTERM ends it at once, although a browser listens."""
    with Command(tmp_path, "page", "--learner", "http://127.0.0.1:1", "--port", "0") as served:
        served.wait_until_it_says("page at")
        url = re.search(r"page at (http://[\d.:]+)", served.said)[1]
        with httpx.stream("GET", f"{url}/events", trust_env=False) as stream:
            assert stream.status_code == 200
            assert served.terminate() == 0
