"""A real schema registry for the tests: Apicurio, fetched once by Maven, as a Java process.

It speaks the protocol of Confluent's registry below /apis/ccompat/v7.
"""

import shutil
from pathlib import Path
from typing import Self

from support.cache import cache, kept
from support.child_process import ServerProcess, output_of
from support.kafka_java import JVM_TUNED_FOR_START, java_17_or_newer
from support.ports import free_port
from support.web import DIRECT

VERSION = "2.6.13.Final"
"""The newest that runs on Java 17."""

_NAME = f"apicurio-{VERSION}"
_ARTIFACT = f"io.apicurio:apicurio-registry-app:{VERSION}:tar.gz:all"
_FETCH_DEADLINE_SECONDS = 900.0
_START_DEADLINE_SECONDS = 120.0


class SchemaRegistryError(RuntimeError):
    """The registry of the tests is not available, or did not start."""


class SchemaRegistry:
    """A registry on a free loopback port; its schemas and its port outlive stop() and start()."""

    def __init__(self, folder: Path) -> None:
        java = java_17_or_newer()
        if java is None or not ((cache() / _NAME).is_dir() or shutil.which("mvn")):
            raise SchemaRegistryError(
                "These tests need a real schema registry: install Java 17 (or newer) and Maven."
            )
        self._java = java
        self._data = folder / "registry"
        self._server = ServerProcess(folder / "registry.log")
        self._port = free_port()

    @property
    def url(self) -> str:
        """Address for clients."""
        return f"http://127.0.0.1:{self._port}/apis/ccompat/v7"

    def start(self) -> None:
        """Start the registry and wait until it answers."""
        program = next(kept(_NAME, _fetch).glob("*-runner.jar"))
        self._server.run(
            [self._java, *JVM_TUNED_FOR_START, "-jar", str(program)],
            QUARKUS_HTTP_HOST="127.0.0.1",
            QUARKUS_HTTP_PORT=str(self._port),
            REGISTRY_DATASOURCE_URL=f"jdbc:h2:file:{self._data}",
        )
        self._server.wait_until(self._answers, SchemaRegistryError, _START_DEADLINE_SECONDS)

    def stop(self) -> None:
        """Shut the registry down."""
        self._server.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def _answers(self) -> bool:
        try:
            return DIRECT.open(f"{self.url}/subjects", timeout=5).status == 200
        except OSError:
            return False


def _fetch(folder: Path) -> None:
    fetching = ["mvn", "--quiet", "--batch-mode", "dependency:copy"]
    _run(*fetching, f"-Dartifact={_ARTIFACT}", f"-DoutputDirectory={folder}")
    (archive,) = folder.glob("*.tar.gz")
    _run("tar", "--extract", "--gzip", f"--file={archive}", f"--directory={folder}")
    archive.unlink()


def _run(*command: str) -> None:
    output_of(command, raising=SchemaRegistryError, deadline=_FETCH_DEADLINE_SECONDS)
