"""Interface of the places where a test broker can run."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol
from xml.etree import ElementTree

from support import child_process

RESOURCES = Path(__file__).parent / "kafka"
POM = RESOURCES / "pom.xml"
KAFKA_VERSION = os.environ.get("ILN_TEST_KAFKA") or ElementTree.parse(POM).findtext(
    ".//{*}kafka.version", ""
)
"""Version of the broker; ILN_TEST_KAFKA chooses another than the usual one."""

START_DEADLINE_SECONDS = 60.0
STOP_DEADLINE_SECONDS = 20.0


class KafkaBrokerError(RuntimeError):
    """The test broker is not available, did not start, or failed."""


class Home(Protocol):
    """Where a broker of our own runs."""

    listen_host: str
    data_folder: str

    def launch(self, properties: Mapping[str, str], broker_port: int) -> None: ...
    def has_exited(self) -> bool: ...
    def stop(self) -> None: ...
    def kill(self) -> None: ...
    def pause(self, paused: bool) -> None: ...
    def discard_data(self) -> None: ...
    def log_tail(self) -> str: ...


def output_of(command: Sequence[str], deadline: float = START_DEADLINE_SECONDS) -> str:
    """Run a command to its end and return its output."""
    return child_process.output_of(command, raising=KafkaBrokerError, deadline=deadline)
