import subprocess
from collections.abc import Generator, Iterator

import pytest
from stack.compose import Compose, ComposeError


@pytest.fixture(scope="session")
def compose() -> Compose:
    """The project, before any service starts."""
    version = subprocess.run(["docker", "compose", "version"], capture_output=True, check=False)
    if version.returncode:
        pytest.fail("These tests need `docker compose`; `make test-stack` brings its own.")
    return Compose()


@pytest.fixture(scope="session")
def stack(compose: Compose) -> Iterator[Compose]:
    """The running stack, without Grafana."""
    try:
        compose.up()
        yield compose
    except ComposeError as error:
        error.add_note(compose.logs())
        raise
    finally:
        compose.down()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Function,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the containers' logs to the report of a failed test."""
    report = yield
    stack = item.funcargs.get("stack")
    if report.when == "call" and report.failed and isinstance(stack, Compose):
        report.sections.append(("docker compose logs", stack.logs()))
    return report
