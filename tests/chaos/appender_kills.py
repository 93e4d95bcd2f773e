"""Kills a process that appends to an embedded log."""

import random
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from support.command_line import environment
from support.embedded_log import append, values

from iln_stream.streams import NewRecord

_PROGRAM = """
import pathlib, sys
from iln_stream.streams import NewRecord
from iln_stream.streams.sqlite import SqliteAppender
number = int(sys.argv[2])
appender = SqliteAppender(pathlib.Path(sys.argv[1]), "events", "log")
while True:
    batch = range(number, number + 1 + number % 20)
    appender.append([NewRecord(b"%d" % n, id=str(n)) for n in batch])
    number = batch.stop
    print(number, flush=True)
"""


class Outcome(NamedTuple):
    """Results to compare after the last kill."""

    stored: list[int]
    n_acknowledged: int

    def faults(self) -> list[str]:
        """Return each broken guarantee; empty if all hold."""
        found = []
        if self.n_acknowledged > len(self.stored):
            found.append(f"{self.n_acknowledged - len(self.stored)} acknowledged records are lost")
        if self.stored != list(range(len(self.stored))):
            found.append("records are lost, repeated or out of order")
        return found

    def summary(self) -> str:
        """Return what happened."""
        return f"{self.n_acknowledged} records acknowledged, {len(self.stored)} stored"


def kill_appenders(path: Path, *, n_kills: int, seed: int) -> Outcome:
    """Kill a process `n_kills` times while it appends; the next repeats what had no answer."""
    draw = random.Random(seed)
    append(path, [NewRecord(b"0", id="0")])
    acknowledged = 1
    for _ in range(n_kills):
        command = [sys.executable, "-c", _PROGRAM, str(path), str(acknowledged)]
        with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE) as appender:
            assert appender.stdout is not None
            acknowledged = int(appender.stdout.readline())
            time.sleep(draw.uniform(0, 0.2))
            appender.kill()
            answers = appender.stdout.read().split(b"\n")[:-1]  # the last one may be torn
            acknowledged = int(answers[-1]) if answers else acknowledged
    return Outcome([int(value) for value in values(path)], acknowledged)
