"""The Spark job as its users run it: a process of `spark-submit`, which tests may kill."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from support.child_process import last_lines
from support.spark_jars import spark_jars

ROOT = Path(__file__).parents[2]
JOB = ROOT / "services" / "spark" / "job.py"

_DEADLINE_SECONDS = 600.0


class SparkJob:
    """One `spark-submit services/spark/job.py ...`, on two cores of this machine."""

    def __init__(self, folder: Path, arguments: Sequence[str]) -> None:
        self._log = folder / f"spark-{os.urandom(4).hex()}.log"
        jars = ",".join(map(str, sorted(spark_jars().glob("*.jar"))))
        submit = str(Path(sys.executable).parent / "spark-submit")
        # A task may fail eight times, as on a cluster it may four times: workers are killed.
        master = ["--master", "local[2,8]", "--conf", "spark.ui.enabled=false"]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [submit, *master, "--jars", jars, str(JOB), *arguments],
                cwd=folder,
                env={**os.environ, "PYSPARK_PYTHON": sys.executable},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition; raise with the end of the log if the job ends before."""
        deadline = time.monotonic() + _DEADLINE_SECONDS
        while not condition():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the job did not get there; its log ends:\n{self.said()}")
            time.sleep(0.5)

    def wait(self) -> int:
        """Wait for the end and return the exit code."""
        return self._process.wait(_DEADLINE_SECONDS)

    def said(self, lines: int = 60) -> str:
        """Return the end of the log."""
        return last_lines(self._log.read_text(errors="replace"), lines)

    def workers(self) -> list[int]:
        """Return the processes that learn: those that Spark's Python daemon has forked."""
        family = self._family()
        daemons = {pid for pid in family if b"pyspark.daemon" in _command(pid)}
        return [pid for pid in daemons if family[pid] in daemons]

    def kill_worker(self) -> None:
        """Kill a worker with SIGKILL."""
        self.wait_until(lambda: bool(self.workers()))
        _kill(self.workers()[0])

    def kill(self) -> None:
        """Kill the driver, its JVM and all workers with SIGKILL, as a crash of the machine does."""
        if self._process.poll() is None:
            # The JVM first: it would end the others in order.
            for pid in (self._process.pid, *self._family()):
                _kill(pid)
        self._process.wait()

    def _family(self) -> dict[int, int]:
        """Return the parent of each process below the job's."""
        parents = {}
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                with contextlib.suppress(OSError):
                    stat = (folder / "stat").read_text().rpartition(")")[2].split()
                    parents[int(folder.name)] = int(stat[1])
        family: dict[int, int] = {}
        found = {self._process.pid}
        while found:
            found = {pid for pid, parent in parents.items() if parent in found}
            family.update({pid: parents[pid] for pid in found})
        return family


def _command(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
