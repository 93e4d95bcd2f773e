"""What is known without another operating system: modules of Unix alone are not needed."""

from pathlib import Path

import pytest
from support.command_line import python

WITHOUT = (
    "import sys; sys.modules.update(fcntl=None, resource=None, pwd=None, grp=None, termios=None)"
)
TESTS = "snapshots/test_loading.py", "records/test_fields.py", "research/test_theory.py", "state"


def run(code: str, cwd: Path) -> str:
    """Run Python code with the installed package, where these modules can't be imported."""
    done = python(f"{WITHOUT}\n{code}", cwd=cwd, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_everything_public_can_be_imported(tmp_path: Path) -> None:
    """The package, its service and its command line need no module of Unix alone."""
    code = (
        "import iln_stream, iln_stream.service, iln_stream.cli.app\n"
        "for name in iln_stream.__all__: getattr(iln_stream, name)"
    )
    run(code, tmp_path)


@pytest.mark.thorough
def test_tests_pass(tmp_path: Path) -> None:
    """Tests of the package pass there, those of saved learners among them."""
    root = Path(__file__).parents[1]
    paths = [str(Path(__file__).parent / path) for path in TESTS]
    options = ["-qx", "-m", "not long", "-pno:cacheprovider", "-pno:xdist"]
    code = f"import pytest\nsys.exit(pytest.main({options + paths}))"
    assert " passed" in run(code, root)
