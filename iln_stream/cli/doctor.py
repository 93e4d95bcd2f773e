"""`iln-stream doctor`: what is here, and what is missing for what."""

import importlib.metadata
import shutil
import socket
import sys
from collections.abc import Iterator
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from iln_stream.service import Settings


class Finding(NamedTuple):
    """One thing looked for: whether it is there, what was seen, and what it is for."""

    name: str
    found: bool
    seen: str
    needed_for: str
    essential: bool = False


def examine(settings: Settings, console: Console) -> int:
    """Print what was found; return 1 if something essential is missing, else 0."""
    findings = [
        _python(),
        *_packages(),
        _broker(settings.bootstrap),
        _program("java", "a Kafka broker of one's own, `make kafka` and the tests (17 or newer)"),
        _program("mvn", "fetching that broker's jars, once"),
        _program("docker", "the whole stack, `docker compose up`"),
        _program("prometheus", "the monitoring tests (fetched by them on Debian)"),
    ]
    table = Table("", "what", "seen", "needed for")
    for finding in findings:
        mark = "[green]ok[/]" if finding.found else "[yellow]missing[/]"
        table.add_row(mark, finding.name, finding.seen, finding.needed_for)
    console.print(table)
    return int(any(finding.essential and not finding.found for finding in findings))


def _python() -> Finding:
    return Finding(
        "Python", sys.version_info >= (3, 11), sys.version.split()[0], "everything (3.11)", True
    )


def _packages() -> Iterator[Finding]:
    wanted = {
        "river": "the learners' interface",
        "numpy": "the learners",
        "kafka-python": "learning from Kafka",
        "prometheus-client": "metrics",
        "pydantic": "reading events",
    }
    for name, purpose in wanted.items():
        yield _package(name, purpose, essential=True)
    yield _package("matplotlib", "the demo's picture", essential=False)


def _package(name: str, purpose: str, essential: bool) -> Finding:
    try:
        return Finding(name, True, importlib.metadata.version(name), purpose, essential)
    except importlib.metadata.PackageNotFoundError:
        return Finding(name, False, f"pip install {name}", purpose, essential)


def _broker(bootstrap: str) -> Finding:
    name, purpose = f"Kafka at {bootstrap}", "`run` from Kafka, `replay` (--bootstrap)"
    for address in bootstrap.split(","):
        host, _, port = address.rpartition(":")
        try:
            with socket.create_connection((host, int(port)), timeout=2):
                return Finding(name, True, f"{address} answers", purpose)
        except (OSError, ValueError):
            continue
    return Finding(name, False, "nothing answers", purpose)


def _program(name: str, purpose: str) -> Finding:
    path = shutil.which(name)
    return Finding(name, path is not None, path or "not on PATH", purpose)
