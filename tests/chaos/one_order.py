"""Kills one learner over several partitions repeatedly with SIGKILL."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import NamedTuple

from support.list_source import LIST, ListSource
from support.running_command import Command
from support.saved_state import Saved, saved

from chaos.logs import QUICK, TestedLog
from chaos.stream import event
from iln_stream.loop import Listener, PrequentialLoop, Step
from iln_stream.service import Settings, build_learner
from iln_stream.snapshots import learner_state
from iln_stream.state import pack
from iln_stream.streams import Record

Position = tuple[int, int]
"""Partition and offset."""


class Outcome(NamedTuple):
    """Results to compare after the last run."""

    killed: Saved
    published: list[tuple[Position, float]]
    payloads: dict[Position, bytes | None]
    n_behind: int

    def faults(self, exactly_once: bool) -> list[str]:
        """Return each broken guarantee; empty if all hold.

        The order is the one in which predictions were first published; a learner that learns in
        just this order must predict, and come to, the same.
        """
        found = []
        first: dict[Position, float] = {}
        for position, y_pred in self.published:
            if first.setdefault(position, y_pred) != y_pred:
                found.append(f"{position} was published again with another value")
        if exactly_once and len(first) < len(self.published):
            found.append(f"{len(self.published) - len(first)} predictions came more than once")
        replayed = Predictions()
        learner = build_learner(
            Settings(learner="shrinking-gradient", learner_options=json.loads(QUICK))
        )
        records = [
            Record(number, self.payloads[position], LIST) for number, position in enumerate(first)
        ]
        PrequentialLoop(ListSource(records, batch=1_000), learner, [replayed]).run()
        if replayed.y_pred != list(first.values()):
            found.append("the predictions are not those of the order in which they came")
        arrays, text = pack(learner_state(learner, allow_pickle=False))
        state = {name: array.tobytes() for name, array in arrays.items()} | {"": text.encode()}
        if state != self.killed.learner:
            found.append("the state is not that of the order in which the predictions came")
        if self.killed.n_events != len(first):
            found.append(f"{self.killed.n_events} events learned, {len(first)} published")
        if self.killed.n_events + self.killed.n_dead_letters != len(self.payloads):
            found.append("learned, predicted and dead letters are not what was sent")
        return found


class Predictions(Listener):
    """Keeps the predictions."""

    def __init__(self) -> None:
        self.y_pred: list[float] = []

    def on_step(self, step: Step) -> None:
        self.y_pred.append(step.y_pred)


def kill_learners(
    log: TestedLog,
    folder: Path,
    *,
    n_kills: int,
    events_per_kill: int,
    seed: int,
    partitions: int = 3,
    more: tuple[str, ...] = (),
) -> Outcome:
    """Feed one learner of all partitions, unevenly, and kill it `n_kills` times."""
    draw = random.Random(seed)
    payloads: dict[Position, bytes | None] = {}
    often = ("--snapshot-seconds", "0.05")
    log.keep_one_order("p")
    run = log.arguments(folder / "killed", "p", *often, *more)
    n_behind = 0
    for _ in range(n_kills):
        _feed(log, payloads, events_per_kill // 2, partitions, draw)
        with Command(folder, *run) as learner:
            learner.wait_until_it_says("metrics at")
            _feed(log, payloads, events_per_kill - events_per_kill // 2, partitions, draw)
            time.sleep(draw.uniform(0, 0.8))
            assert learner.runs, f"it ended by itself and said:\n{learner.said}"
            learner.kill()
        n_behind += _learned(folder / "killed") < len(payloads)
    with Command(folder, *run, "--stop-at-end") as learner:
        assert learner.wait(600) == 0, learner.said
    published = [
        ((each["partition"], each["offset"]), each["y_pred"]) for each in log.predictions("p")
    ]
    return Outcome(saved(folder / "killed", log.name, "all"), published, payloads, n_behind)


def _feed(
    log: TestedLog,
    payloads: dict[Position, bytes | None],
    count: int,
    partitions: int,
    draw: random.Random,
) -> None:
    """Append events to partitions in turns of random lengths."""
    while count > 0:
        partition, n = draw.randrange(partitions), min(count, draw.randint(1, 300))
        values = [event(number) for number in range(len(payloads), len(payloads) + n)]
        for offset, (_, value) in zip(log.send(values, partition), values, strict=True):
            payloads[partition, offset] = value
        count -= n


def _learned(folder: Path) -> int:
    """How many records the newest snapshot is of, at most: markers count, too."""
    names = [file.stem.split("-") for file in folder.rglob("*.snapshot")]
    return max((int(offset) for _, offset in names), default=-1)
