"""The test broker as a process of this machine's Java; Maven fetches its jars once."""

import base64
import os
import re
import shutil
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from support.cache import kept
from support.child_process import ServerProcess
from support.kafka_home import KAFKA_VERSION, POM, RESOURCES, output_of

JARS = f"kafka-{KAFKA_VERSION}"
"""Folder of the cache with Kafka's jars."""

_OLDEST_JAVA = 17
_FETCH_DEADLINE_SECONDS = 900.0

JVM_TUNED_FOR_START = ("-Xmx512M", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


class JavaHome(ServerProcess):
    """Kafka as a child process on this machine's Java."""

    listen_host = "127.0.0.1"

    def __init__(self, folder: Path, java: str) -> None:
        super().__init__(folder / "broker.log")
        self.data_folder = str(folder / "data")
        self._java = java
        self._properties_file = folder / "server.properties"

    def launch(self, properties: Mapping[str, str], broker_port: int) -> None:
        self._properties_file.parent.mkdir(parents=True, exist_ok=True)
        self._properties_file.write_text(
            "".join(f"{name}={value}\n" for name, value in properties.items())
        )
        java = self._java_command(kept(JARS, _fetch_jars_with_maven))
        if not Path(self.data_folder, "meta.properties").exists():
            self._format_data_folder(java)
        self.run([*java, "kafka.Kafka", str(self._properties_file)])

    def discard_data(self) -> None:
        shutil.rmtree(self.data_folder, ignore_errors=True)

    def _java_command(self, jars: Path) -> list[str]:
        log_configuration = (RESOURCES / "log4j.properties").as_uri()
        return [
            self._java,
            *JVM_TUNED_FOR_START,
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


def _fetch_jars_with_maven(destination: Path) -> None:
    maven = ["mvn", "--quiet", "--batch-mode", "--file", str(POM)]
    maven += [f"-Dkafka.version={KAFKA_VERSION}"]
    copying = ["dependency:copy-dependencies", "-DincludeScope=runtime"]
    target = f"-DoutputDirectory={destination}"
    output_of([*maven, *copying, target], _FETCH_DEADLINE_SECONDS)
