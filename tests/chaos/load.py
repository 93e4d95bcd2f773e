"""Ends the learner and the API again and again while events come at a rate."""

import random
import resource
import signal
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from support.embedded_log import messages
from support.ports import free_port
from support.running_command import Command

from chaos.learner_kills import Outcome, finish, outcome_of
from chaos.logs import EmbeddedLog
from iln_stream.client import Client, NewEvent, Retries

_RATE = 100
"""Events a second."""
_FAST = ("--learner", "infinite-layer", "--learner-options", '{"profile": "fast"}')


class LoadOutcome(NamedTuple):
    """Results to compare after the last life."""

    outcome: Outcome
    ids: list[str | None]
    """Ids of the records of the log."""
    n_acknowledged: int
    n_predictions: int
    """Number of answers to requests for a prediction."""
    megabytes: dict[str, list[float]]
    """Resident memory at the end of each life, of learners and APIs, and sizes of the files."""

    def faults(self) -> list[str]:
        """Return each broken guarantee; empty if all hold."""
        found = self.outcome.faults(exactly_once=True)
        if self.ids != [f"e{n}" for n in range(self.n_acknowledged)]:
            found.append("the log has not each acknowledged event once")
        for name, seen in self.megabytes.items():
            third = len(seen) // 3
            if third >= 5 and max(seen[-third:]) > 1.2 * max(seen[:-third]):
                found.append(f"{name}, which grow: {seen}")
        return found

    def summary(self) -> str:
        """Return what happened."""
        spans = [
            f"{len(seen)} {name}, {min(seen):.0f} to {max(seen):.0f} MB"
            for name, seen in self.megabytes.items()
        ]
        return (
            f"{self.n_acknowledged} events acknowledged, {len(self.outcome.published)} predictions "
            f"published, {self.n_predictions} answered; {'; '.join(spans)}"
        )


class _Clients(threading.Thread):
    """Posts events at a rate, and asks for a prediction after each batch.

    Each request is repeated until it is answered, an event with its id.
    """

    def __init__(self, port: int) -> None:
        super().__init__(name="clients")
        patient = Retries(most=1_000, within=120)
        self._client = Client(f"http://127.0.0.1:{port}", retries=patient, trust_env=False)
        self._enough = threading.Event()
        self.n_sent = self.n_predictions = 0

    def run(self) -> None:
        begun = time.monotonic()
        while not self._enough.wait(0.1):
            due = min(self.n_sent + 500, int(_RATE * (time.monotonic() - begun)))
            batch = [_event(n) for n in range(self.n_sent, due)]
            self._client.append_many(batch)
            self.n_sent = due
            if self.n_sent > 10 * _RATE:  # the learner has published a version
                self._client.predict(_event(due).x)
                self.n_predictions += 1

    def finish(self) -> None:
        """Wait for the last answer."""
        self._enough.set()
        self.join()
        self._client.close()


def load(folder: Path, *, minutes: float, seed: int) -> LoadOutcome:
    """Post events to an API, and end API and learner again and again, 5 to 30 s after their start.

    Half of the lives end by SIGKILL, the others by SIGTERM.
    """
    draw, log, port = random.Random(seed), EmbeddedLog(folder / "load.db"), free_port()
    models, address = folder / "models", f"sqlite:{log.path}"
    run = log.arguments(folder / "killed", "p", *_FAST)
    commands = {
        "learners": [*run, "--publish", str(models)],
        "APIs": ["serve", "--models", str(models), "--events", address, "--port", str(port)],
    }
    megabytes: dict[str, list[float]] = {name: [] for name in (*commands, "sums of files")}
    clients = _Clients(port)
    with ExitStack() as stack:
        lives: dict[str, tuple[Command, float]] = {}

        def begin(name: str) -> None:
            process = stack.enter_context(Command(folder, *commands[name]))
            process.wait_until_it_says("metrics at" if name == "learners" else "serving http")
            lives[name] = process, time.monotonic() + draw.uniform(5, 30)

        for name in commands:
            begin(name)
        clients.start()
        end = time.monotonic() + 60 * minutes
        while time.monotonic() < end:
            for name, (process, until) in list(lives.items()):
                assert process.runs, process.said
                if time.monotonic() > until:
                    megabytes[name].append(_resident(process.pid))
                    number = draw.choice((signal.SIGKILL, signal.SIGTERM))
                    process.signal(number)
                    assert process.wait() in (0, -signal.SIGKILL), process.said
                    if name == "learners":
                        megabytes["sums of files"].append(_stored(folder / "killed", models))
                    begin(name)
            time.sleep(0.1)
            assert clients.is_alive(), "a request had no answer"
        clients.finish()
    finish(folder, [*run, "--stop-at-end"])
    finish(folder, log.arguments(folder / "whole", "q", *_FAST, "--stop-at-end"))
    ids = [value["id"] for value in messages(log.path, "events")]
    outcome = outcome_of(log, folder, clients.n_sent, 0)
    return LoadOutcome(outcome, ids, clients.n_sent, clients.n_predictions, megabytes)


def _event(number: int) -> NewEvent:
    draw = random.Random(number)
    x = {name: draw.uniform(-1, 1) for name in "abcd"}
    return NewEvent(x, x["a"] * x["b"] + draw.gauss(0, 0.1), f"e{number}")


def _resident(pid: int) -> float:
    """Return the megabytes of memory that a process has."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def _stored(*folders: Path) -> float:
    """Return the megabytes of the files in folders."""
    files = (file for folder in folders for file in folder.rglob("*"))
    return sum(file.stat().st_size for file in files) / 1e6
