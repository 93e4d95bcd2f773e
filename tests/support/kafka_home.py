"""What the places where a test broker can run have in common."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol
from xml.etree import ElementTree

RESOURCES = Path(__file__).parent / "kafka"
POM = RESOURCES / "pom.xml"
KAFKA_VERSION = ElementTree.parse(POM).findtext(".//{*}kafka.version", "")

START_DEADLINE_SECONDS = 60.0
STOP_DEADLINE_SECONDS = 20.0


class KafkaBrokerError(RuntimeError):
    """The test broker cannot be had, did not start, or cannot do what was asked of it."""


class Home(Protocol):
    """Where a broker of our own runs."""

    listen_host: str
    data_folder: str

    def launch(self, properties: Mapping[str, str], broker_port: int) -> None: ...
    def has_exited(self) -> bool: ...
    def stop(self) -> None: ...
    def kill(self) -> None: ...
    def discard_data(self) -> None: ...
    def log_tail(self) -> str: ...


def output_of(command: Sequence[str], deadline: float = START_DEADLINE_SECONDS) -> str:
    try:
        result = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=deadline,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise KafkaBrokerError(f"{command[0]} did not run to its end: {error}") from error
    if result.returncode:
        output = last_lines(result.stdout)
        raise KafkaBrokerError(f"{' '.join(command)}\nfailed and said:\n{output}")
    return result.stdout.strip()


def run_when_this_process_dies(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Unlike PR_SET_PDEATHSIG this does not fire when only the starting *thread* ends."""
    return subprocess.Popen(
        ["sh", "-c", 'read -r _; exec "$@"', "sh", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def call_off(watcher: subprocess.Popen[bytes]) -> None:
    watcher.kill()
    with watcher:  # closes the pipe and waits
        pass


def last_lines(text: str, count: int = 40) -> str:
    return "\n".join(text.splitlines()[-count:])
