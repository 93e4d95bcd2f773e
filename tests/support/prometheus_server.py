"""A real Prometheus for the tests.

It is, in this order: that of the Debian suite which ILN_TEST_PROMETHEUS names (such as `forky`,
which has Prometheus 3), the one on PATH, or the package of this machine's Debian. Packages are
fetched once and unpacked into the cache folder; nothing is installed.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from support.child_process import call_off, last_lines, output_of, run_when_this_process_dies
from support.debian_packages import PackageError, cache, can_fetch, unpacked

_START_DEADLINE_SECONDS = 60.0
_STOP_DEADLINE_SECONDS = 20.0
_ANSWER_DEADLINE_SECONDS = 10.0

_LISTENING = re.compile(r"Listening on.*address=(127\.0\.0\.1:\d+)")

# Requests to this machine bypass any proxy in the environment.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class PrometheusServerError(RuntimeError):
    """The test Prometheus is not available, did not start, or failed."""


class Tools(NamedTuple):
    """Paths of the two programs."""

    prometheus: Path
    promtool: Path


class Sample(NamedTuple):
    """One series of an instant vector."""

    labels: dict[str, str]
    value: float


def promtool(*arguments: str | Path) -> str:
    """Run promtool to its end and return its output; raise if it reports an error."""
    return _output_of([str(find_tools().promtool), *map(str, arguments)])


class PrometheusServer:
    """One Prometheus on a free loopback port, with its database and log below `folder`."""

    def __init__(self, config_file: Path, folder: Path) -> None:
        self._config_file = config_file
        self._data_folder = folder / "data"
        self._log_file = folder / "prometheus.log"
        self._address = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher: subprocess.Popen[bytes] | None = None
        atexit.register(self.close)

    @property
    def url(self) -> str:
        """URL of Prometheus, known after the start."""
        if not self._address:
            raise PrometheusServerError("Prometheus has no address before its start().")
        return f"http://{self._address}"

    def start(self) -> None:
        """Start Prometheus and wait until it is ready."""
        with self._log_file.open("wb") as log:
            self._process = subprocess.Popen(
                [
                    find_tools().prometheus,
                    f"--config.file={self._config_file}",
                    f"--storage.tsdb.path={self._data_folder}",
                    "--web.listen-address=127.0.0.1:0",
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._watcher = run_when_this_process_dies(["kill", "-KILL", str(self._process.pid)])
        try:
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise

    def query(self, expression: str) -> list[Sample]:
        """Evaluate an expression now."""
        found = self.get("query", query=expression)
        if found["resultType"] == "scalar":
            return [Sample({}, float(found["result"][1]))]
        return [Sample(each["metric"], float(each["value"][1])) for each in found["result"]]

    def get(self, path: str, **parameters: str) -> Any:
        """Return the data from an endpoint of the HTTP API."""
        address = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with DIRECT.open(address, timeout=_ANSWER_DEADLINE_SECONDS) as response:
                return json.load(response)["data"]
        except urllib.error.HTTPError as error:
            with error:
                said = error.read().decode(errors="replace")
            raise PrometheusServerError(f"{path} {parameters}: {said}") from error
        except OSError as error:
            raise PrometheusServerError(
                f"{path} {parameters}: {error}; the end of Prometheus's log:\n{self._log_tail()}"
            ) from error

    def stop(self) -> None:
        """Shut Prometheus down; its data and log stay."""
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

    def close(self) -> None:
        """End Prometheus and delete its data; its log file stays."""
        atexit.unregister(self.close)
        self.stop()
        shutil.rmtree(self._data_folder, ignore_errors=True)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + _START_DEADLINE_SECONDS
        while not self._is_ready():
            exited = self._process is None or self._process.poll() is not None
            if exited or time.monotonic() > deadline:
                problem = (
                    "exited" if exited else f"was not ready in {_START_DEADLINE_SECONDS:.0f} s"
                )
                raise PrometheusServerError(
                    f"Prometheus {problem}; the end of its log:\n{self._log_tail()}"
                )
            time.sleep(0.05)

    def _is_ready(self) -> bool:
        listening = _LISTENING.search(self._log_file.read_text(errors="replace"))
        if listening is None:
            return False
        self._address = listening[1]
        try:
            with DIRECT.open(f"{self.url}/-/ready", timeout=_ANSWER_DEADLINE_SECONDS):
                return True
        except OSError:
            return False

    def _log_tail(self) -> str:
        return last_lines(self._log_file.read_text(errors="replace"))


def find_tools() -> Tools:
    """Return Prometheus's programs, fetched if necessary."""
    suite = os.environ.get("ILN_TEST_PROMETHEUS")
    prometheus, beside = shutil.which("prometheus"), shutil.which("promtool")
    if prometheus and beside and not suite:
        return Tools(Path(prometheus), Path(beside))
    name = f"prometheus-{suite}" if suite else "prometheus-debian"
    if not ((cache() / name).is_dir() or can_fetch()):
        raise _no_prometheus("and here is no apt-get to fetch Debian's package with.")
    # Newer releases have a package of their own for promtool.
    packages = ["prometheus", "promtool"] if suite else ["prometheus"]
    try:
        programs = unpacked(name, packages, suite) / "usr" / "bin"
    except PackageError as error:
        raise _no_prometheus(f"and apt-get could not fetch Debian's package: {error}") from error
    return Tools(programs / "prometheus", programs / "promtool")


def _no_prometheus(why: str) -> PrometheusServerError:
    return PrometheusServerError(
        "These tests need a real Prometheus: install one (2.42 or newer) so that `prometheus` and "
        f"`promtool` are on PATH. They are not, {why}"
    )


def _output_of(command: Sequence[str]) -> str:
    return output_of(command, raising=PrometheusServerError, deadline=_START_DEADLINE_SECONDS)
