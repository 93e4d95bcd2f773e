"""The test broker as a container of an image that the local Docker engine already has."""

import subprocess
import uuid
from collections.abc import Mapping

from support.child_process import call_off, last_lines, run_when_this_process_dies
from support.kafka_home import KAFKA_VERSION, STOP_DEADLINE_SECONDS, KafkaBrokerError, output_of

DOCKER_IMAGE = f"apache/kafka:{KAFKA_VERSION}"


class DockerHome:
    """Kafka in a container of the local Docker engine."""

    listen_host = "0.0.0.0"
    data_folder = "/var/lib/kafka/data"

    def __init__(self) -> None:
        self._container = f"iln-test-kafka-{uuid.uuid4().hex[:12]}"
        self._watcher: subprocess.Popen[bytes] | None = None

    def launch(self, properties: Mapping[str, str], broker_port: int) -> None:
        if self._watcher is None:
            # A started container is kept over stop and kill: the data is in it.
            self._watcher = run_when_this_process_dies(self._removal())
            creation = ["create", "--name", self._container]
            creation += ["--publish", f"127.0.0.1:{broker_port}:{broker_port}"]
            creation += ["--env", "KAFKA_HEAP_OPTS=-Xmx512M"]
            for name, value in properties.items():
                creation += ["--env", f"{_docker_variable(name)}={value}"]
            self._docker(*creation, DOCKER_IMAGE)
        self._docker("start", self._container)

    def has_exited(self) -> bool:
        return self._docker("inspect", "-f", "{{.State.Running}}", self._container) != "true"

    def stop(self) -> None:
        self._docker("stop", "--time", str(int(STOP_DEADLINE_SECONDS)), self._container)

    def kill(self) -> None:
        if not self.has_exited():
            self._docker("kill", "--signal", "KILL", self._container)

    def pause(self, paused: bool) -> None:
        self._docker("pause" if paused else "unpause", self._container)

    def discard_data(self) -> None:
        if self._watcher is not None:
            call_off(self._watcher)
            self._watcher = None
            self._docker(*self._removal()[1:])

    def log_tail(self) -> str:
        return last_lines(self._docker("logs", self._container))

    def _removal(self) -> list[str]:
        return ["docker", "rm", "--force", "--volumes", self._container]

    @staticmethod
    def _docker(*arguments: str) -> str:
        return output_of(["docker", *arguments])


def _docker_variable(property_name: str) -> str:
    """The image's name for a property: '.', '_' and '-' become one, two and three underscores."""
    name = property_name.replace("_", "__").replace("-", "___").replace(".", "_")
    return f"KAFKA_{name.upper()}"


def docker_has_image() -> bool:
    try:
        return bool(output_of(["docker", "image", "inspect", DOCKER_IMAGE]))
    except KafkaBrokerError:
        return False
