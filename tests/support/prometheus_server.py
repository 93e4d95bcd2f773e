"""A real Prometheus for the tests.

It is, in this order: that of the Debian suite which ILN_TEST_PROMETHEUS names (such as `forky`,
which has Prometheus 3), the one on PATH, or the package of this machine's Debian. Packages are
fetched once and unpacked into the cache folder; nothing is installed.
"""

import atexit
import json
import os
import re
import shutil
import urllib.error
import urllib.parse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from support.cache import cache
from support.child_process import ServerProcess, output_of
from support.debian_packages import PackageError, can_fetch, unpacked
from support.web import DIRECT, answers

_START_DEADLINE_SECONDS = 60.0
_TOOL_DEADLINE_SECONDS = 300.0  # the tests of all rules take half a minute on an idle machine
_ANSWER_DEADLINE_SECONDS = 10.0

_LISTENING = re.compile(r"Listening on.*address=(127\.0\.0\.1:\d+)")


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
        self._server = ServerProcess(folder / "prometheus.log")
        self._address = ""
        atexit.register(self.close)

    @property
    def url(self) -> str:
        """URL of Prometheus, known after the start."""
        if not self._address:
            raise PrometheusServerError("Prometheus has no address before its start().")
        return f"http://{self._address}"

    def start(self) -> None:
        """Start Prometheus and wait until it is ready."""
        self._server.run(
            [
                str(find_tools().prometheus),
                f"--config.file={self._config_file}",
                f"--storage.tsdb.path={self._data_folder}",
                "--web.listen-address=127.0.0.1:0",
            ]
        )
        self._server.wait_until(self._is_ready, PrometheusServerError, _START_DEADLINE_SECONDS)

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
                f"{path} {parameters}: {error}; its log ends:\n{self._server.log_tail()}"
            ) from error

    def close(self) -> None:
        """End Prometheus and delete its data; its log file stays."""
        atexit.unregister(self.close)
        self._server.stop()
        shutil.rmtree(self._data_folder, ignore_errors=True)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _is_ready(self) -> bool:
        listening = _LISTENING.search(self._server.said())
        if listening is None:
            return False
        self._address = listening[1]
        return answers(f"{self.url}/-/ready")


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
    return output_of(command, raising=PrometheusServerError, deadline=_TOOL_DEADLINE_SECONDS)
