"""The test broker as a process of this machine's Java; Maven fetches its jars once."""

from __future__ import annotations

import base64
import contextlib
import os
import re
import shutil
import signal
import subprocess
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from support.child_process import call_off, last_lines, run_when_this_process_dies
from support.debian_packages import cache
from support.file_lock import locked
from support.kafka_home import (
    KAFKA_VERSION,
    POM,
    RESOURCES,
    STOP_DEADLINE_SECONDS,
    output_of,
)

_OLDEST_JAVA = 17
_FETCH_DEADLINE_SECONDS = 900.0

_JVM_TUNED_FOR_START = ("-Xmx512M", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


class JavaHome:
    """Kafka as a child process on this machine's Java."""

    listen_host = "127.0.0.1"

    def __init__(self, folder: Path, java: str) -> None:
        self.data_folder = str(folder / "data")
        self._java = java
        self._properties_file = folder / "server.properties"
        self._log_file = folder / "broker.log"
        self._log_start = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher: subprocess.Popen[bytes] | None = None

    def launch(self, properties: Mapping[str, str], broker_port: int) -> None:
        self._properties_file.parent.mkdir(parents=True, exist_ok=True)
        self._properties_file.write_text(
            "".join(f"{name}={value}\n" for name, value in properties.items())
        )
        java = self._java_command(_fetched_jars())
        if not Path(self.data_folder, "meta.properties").exists():
            self._format_data_folder(java)
        with self._log_file.open("ab") as log:
            self._log_start = log.tell()
            self._process = subprocess.Popen(
                [*java, "kafka.Kafka", str(self._properties_file)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._watcher = run_when_this_process_dies(["kill", "-KILL", str(self._process.pid)])

    def has_exited(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_DEADLINE_SECONDS)
            self.kill()

    def kill(self) -> None:
        if self._watcher is not None:
            call_off(self._watcher)
            self._watcher = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def pause(self, paused: bool) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP if paused else signal.SIGCONT)

    def discard_data(self) -> None:
        shutil.rmtree(self.data_folder, ignore_errors=True)

    def log_tail(self) -> str:
        with self._log_file.open("rb") as log:
            log.seek(self._log_start)
            return last_lines(log.read().decode(errors="replace"))

    def _java_command(self, jars: Path) -> list[str]:
        log_configuration = (RESOURCES / "log4j.properties").as_uri()
        return [
            self._java,
            *_JVM_TUNED_FOR_START,
            f"-Dlog4j.configuration={log_configuration}",
            "-cp",
            str(jars / "*"),
        ]

    def _format_data_folder(self, java: Sequence[str]) -> None:
        cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        formatting = ["kafka.tools.StorageTool", "format", f"--cluster-id={cluster_id}"]
        output_of([*java, *formatting, "--config", str(self._properties_file)])


def java_17_or_newer() -> str | None:
    java_home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{java_home}/bin") if java_home else None
    java = java or shutil.which("java")
    if java is None:
        return None
    version = re.search(r'version "(\d+)', output_of([java, "-version"]))
    return java if version and int(version[1]) >= _OLDEST_JAVA else None


def jar_folder() -> Path:
    return cache() / f"kafka-{KAFKA_VERSION}"


def _fetched_jars() -> Path:
    """The folder with Kafka's jars; a folder of that name is always whole."""
    jars = jar_folder()
    if jars.is_dir():
        return jars
    with locked(jars.parent / f"{jars.name}.lock"):
        if not jars.is_dir():
            partial = jars.parent / f"{jars.name}.partial"
            shutil.rmtree(partial, ignore_errors=True)
            _fetch_jars_with_maven(partial)
            partial.rename(jars)
    return jars


def _fetch_jars_with_maven(destination: Path) -> None:
    maven = [
        "mvn",
        "--quiet",
        "--batch-mode",
        "--file",
        str(POM),
        f"-Dkafka.version={KAFKA_VERSION}",
    ]
    copying = ["dependency:copy-dependencies", "-DincludeScope=runtime"]
    target = f"-DoutputDirectory={destination}"
    output_of([*maven, *copying, target], _FETCH_DEADLINE_SECONDS)
