"""Runs docker-compose.yml as a separate project, with a unique name and free ports."""

import json
import os
import subprocess
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from support.ports import free_ports

TOP = Path(__file__).resolve().parents[2]
WITHOUT_GRAFANA = ("kafka", "topics", "learner", "api", "producer", "prometheus")

_BUILD_SECONDS = 900.0
_UP_SECONDS = 240.0
_SECONDS = 60.0

T = TypeVar("T")


class Compose:
    """Runs `docker compose` on the project."""

    def __init__(self) -> None:
        self._project = f"iln-stream-test-{uuid.uuid4().hex[:8]}"
        ports = free_ports(6)
        self.kafka_port, self.learner_port, self.prometheus_port, self.grafana_port = ports[:4]
        self.api_port, self.page_port = ports[4:]
        self._image_tag = self._project
        self._variables = {
            "ILN_KAFKA_PORT": str(self.kafka_port),
            "ILN_API_PORT": str(self.api_port),
            "ILN_LEARNER_PORT": str(self.learner_port),
            "ILN_PAGE_PORT": str(self.page_port),
            "ILN_PROMETHEUS_PORT": str(self.prometheus_port),
            "ILN_GRAFANA_PORT": str(self.grafana_port),
            "ILN_IMAGE_TAG": self._image_tag,
        }

    def __call__(self, *arguments: str, timeout: float = _SECONDS) -> str:
        """Return what a command of `docker compose` printed."""
        file = str(TOP / "docker-compose.yml")
        return self._docker(
            "compose", "--project-name", self._project, "--file", file, *arguments, timeout=timeout
        )

    def config(self) -> dict[str, Any]:
        """Return the file as Compose understands it, with all defaults and absolute paths."""
        parsed: dict[str, Any] = json.loads(self("config", "--format", "json"))
        return parsed

    def up(self) -> None:
        """Build our image, fetch missing ones, and start all services except Grafana."""
        self("build", "learner", timeout=_BUILD_SECONDS)
        services = self.config()["services"]
        for service in WITHOUT_GRAFANA:
            if "build" not in services[service]:
                self._fetch(services[service]["image"])
        self(
            *("up", "--detach", "--wait", "--pull", "never", "--no-build"),
            *WITHOUT_GRAFANA,
            timeout=_UP_SECONDS,
        )

    def down(self) -> None:
        """Remove containers, volumes, network and our image."""
        self("down", "--volumes", "--remove-orphans")
        self._docker("image", "rm", "--force", f"iln-stream:{self._image_tag}")

    def logs(self) -> str:
        """Return the last log lines of each service."""
        return self("logs", "--tail", "40")

    def exit_code(self, service: str) -> int:
        """Return the exit code of a service that has ended."""
        container = json.loads(self("ps", "--all", "--format", "json", service))
        assert container["State"] == "exited", container
        return int(container["ExitCode"])

    def _fetch(self, image: str) -> None:
        try:
            self._docker("image", "inspect", image)
        except ComposeError:
            self._docker("pull", "--quiet", image, timeout=_BUILD_SECONDS)

    def _docker(self, *arguments: str, timeout: float = _SECONDS) -> str:
        result = subprocess.run(
            ["docker", *arguments],
            env=os.environ | self._variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        if result.returncode:
            said = "\n".join((result.stdout + result.stderr).splitlines()[-40:])
            raise ComposeError(f"docker {' '.join(arguments)}\nfailed and said:\n{said}")
        return result.stdout


class ComposeError(RuntimeError):
    """A Docker command failed."""


def eventually(read: Callable[[], T], holds: Callable[[T], bool], within: float = 60.0) -> T:
    """Repeat `read` until its value fulfils `holds`, and return it."""
    deadline = time.monotonic() + within
    while True:
        try:
            answer = read()
        except OSError as error:  # not listening yet
            outcome = repr(error)
        else:
            if holds(answer):
                return answer
            outcome = repr(answer)
        assert time.monotonic() < deadline, f"still so after {within:.0f} s: {outcome[:2000]}"
        time.sleep(0.3)
