"""A real schema registry for the tests: Apicurio, fetched once by Maven, as a Java process.

It speaks the protocol of Confluent's registry below /apis/ccompat/v7.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Self

from support.child_process import (
    call_off,
    last_lines,
    output_of,
    run_when_this_process_dies,
)
from support.debian_packages import cache
from support.file_lock import locked
from support.kafka_broker import free_port
from support.kafka_java import java_17_or_newer

VERSION = "2.6.13.Final"
"""The newest that runs on Java 17."""

_ARTIFACT = f"io.apicurio:apicurio-registry-app:{VERSION}:tar.gz:all"
_FETCH_DEADLINE_SECONDS = 900.0
_START_DEADLINE_SECONDS = 120.0
_STOP_DEADLINE_SECONDS = 20.0
_JVM_TUNED_FOR_START = ("-Xmx512M", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")

# Requests to this machine bypass any proxy in the environment.
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class SchemaRegistryError(RuntimeError):
    """The registry of the tests is not available, or did not start."""


class SchemaRegistry:
    """A registry on a free loopback port; its schemas and its port outlive stop() and start()."""

    def __init__(self, folder: Path) -> None:
        java = java_17_or_newer()
        if java is None or not (_folder().is_dir() or shutil.which("mvn")):
            raise SchemaRegistryError(
                "These tests need a real schema registry: install Java 17 (or newer) and Maven."
            )
        self._java = java
        self._data = folder / "registry"
        self._log = folder / "registry.log"
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Address for clients."""
        return f"http://127.0.0.1:{self._port}/apis/ccompat/v7"

    def start(self) -> None:
        """Start the registry and wait until it answers."""
        program = next(_fetched().glob("*-runner.jar"))
        environment = {
            **os.environ,
            "QUARKUS_HTTP_HOST": "127.0.0.1",
            "QUARKUS_HTTP_PORT": str(self._port),
            "REGISTRY_DATASOURCE_URL": f"jdbc:h2:file:{self._data}",
        }
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [self._java, *_JVM_TUNED_FOR_START, "-jar", str(program)],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._watcher = run_when_this_process_dies(["kill", "-KILL", str(self._process.pid)])
        deadline = time.monotonic() + _START_DEADLINE_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                said = last_lines(self._log.read_text(errors="replace"))
                self.stop()
                raise SchemaRegistryError(
                    f"The registry did not start; the end of its log:\n{said}"
                )
            time.sleep(0.1)

    def stop(self) -> None:
        """Shut the registry down."""
        if self._watcher is not None:
            call_off(self._watcher)
            self._watcher = None
        if self._process is not None:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_STOP_DEADLINE_SECONDS)
            self._process.kill()
            self._process.wait()
            self._process = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _answers(self) -> bool:
        try:
            return _DIRECT.open(f"{self.url}/subjects", timeout=5).status == 200
        except OSError:
            return False


def _folder() -> Path:
    return cache() / f"apicurio-{VERSION}"


def _fetched() -> Path:
    """The folder with the registry's program; a folder of that name is always whole."""
    folder = _folder()
    if folder.is_dir():
        return folder
    with locked(folder.parent / f"{folder.name}.lock"):
        if not folder.is_dir():
            partial = folder.parent / f"{folder.name}.partial"
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            fetching = ["mvn", "--quiet", "--batch-mode", "dependency:copy"]
            target = f"-DoutputDirectory={partial}"
            _run(*fetching, f"-Dartifact={_ARTIFACT}", target)
            (archive,) = partial.glob("*.tar.gz")
            _run("tar", "--extract", "--gzip", f"--file={archive}", f"--directory={partial}")
            archive.unlink()
            partial.rename(folder)
    return folder


def _run(*command: str) -> None:
    output_of(command, raising=SchemaRegistryError, deadline=_FETCH_DEADLINE_SECONDS)
