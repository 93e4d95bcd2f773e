"""Kills the learner repeatedly with SIGKILL while it learns."""

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from support.running_command import Command
from support.saved_state import Saved, saved

from chaos.logs import TestedLog
from chaos.stream import KeyedRecord, chunks, event

_TRANSACTION = 250
OFTEN = ("--snapshot-seconds", "0.05")

IN_A_ROW = ("--learner", "infinite-layer", "--learner-options", '{"profile": "fast"}')
"""A learner that takes many events in one call."""


class Plan(NamedTuple):
    """How often a run is killed, and what its arguments have that the whole run's have not."""

    n_kills: int
    per_kill: int
    """Number of records for each kill."""
    seed: int
    more: tuple[str, ...] = ()

    @property
    def n_records(self) -> int:
        """Number of records of all kills."""
        return self.n_kills * self.per_kill


class Outcome(NamedTuple):
    """Results to compare after the last run."""

    killed: Saved
    uninterrupted: Saved
    published: list[tuple[int, str]]
    expected: list[tuple[int, str]]
    letters: list[str]
    expected_letters: list[str]
    n_sent: int
    n_at_work: int
    """Number of kills after a life's first snapshot, with records still to learn."""

    def faults(self, exactly_once: bool) -> list[str]:
        """Return each broken guarantee; empty if all hold."""
        found = []
        for name in ("n_events", "n_labelled", "n_dead_letters"):
            ours, theirs = getattr(self.killed, name), getattr(self.uninterrupted, name)
            if ours != theirs:
                found.append(f"{name} is {ours}, and {theirs} without kills")
        for part, bits in self.uninterrupted.bits.items():
            if self.killed.bits[part] != bits:
                found.append(f"the part {part} of the state differs from the uninterrupted run's")
        learned = self.killed.n_events + self.killed.n_dead_letters
        learned += self.killed.state["counts"]["n_commands"]
        if self.killed.state["pending"] is None and learned != self.n_sent:
            found.append("learned, predicted, commands and dead letters are not what was sent")
        found += published_faults(self.published, self.expected, exactly_once)
        if sorted(set(self.letters)) != sorted(self.expected_letters):
            found.append("the dead letters are not those of the uninterrupted run")
        return found

    def summary(self) -> str:
        """Return what happened."""
        return (
            f"{self.n_sent} records, {self.n_at_work} kills at work; "
            f"{self.killed.n_labelled} learned, {self.killed.n_dead_letters} dead letters, "
            f"{len(self.expected)} predicted, "
            f"{len(self.published) - len(self.expected)} predictions repeated"
        )


def published_faults(
    published: list[tuple[int, str]], expected: list[tuple[int, str]], exactly_once: bool
) -> list[str]:
    """Return how what a killed run has published differs from what the whole run has."""
    found = []
    if sorted(set(published)) != sorted(expected):
        found.append("the predictions published are not those of the uninterrupted run")
    repeated = sum(count > 1 for count in Counter(published).values())
    if exactly_once and repeated:
        found.append(f"{repeated} predictions were published more than once")
    return found


def kill_learners(
    log: TestedLog,
    folder: Path,
    plan: Plan,
    of_both: tuple[str, ...] = (),
    record: Callable[[int], KeyedRecord] = event,
) -> Outcome:
    """Feed a learner the stream's record of each number, and kill it as planned; then compare."""
    n_at_work = run_twice(log, folder, plan, partial(send, log, record), of_both)
    return outcome_of(log, folder, plan.n_records, n_at_work)


def run_twice(
    log: TestedLog,
    folder: Path,
    plan: Plan,
    feed: Callable[[range], int],
    of_both: tuple[str, ...] = (),
) -> int:
    """Run a learner that is killed, then one that is not; return how many kills came at work."""
    run = log.arguments(folder / "killed", "p", *of_both, *OFTEN, *plan.more)
    n_at_work = kill_repeatedly(folder, run, feed, plan)
    finish(folder, log.arguments(folder / "whole", "q", *of_both, "--stop-at-end"))
    return n_at_work


def kill_repeatedly(folder: Path, run: list[str], feed: Callable[[range], int], plan: Plan) -> int:
    """Kill a run as planned, then let it finish; return how many kills came at work.

    `feed` appends the records of these numbers, and returns the offset of the last one. Half of a
    life's records are there when it begins. One life in five ends at a random moment of its
    beginning, the others after their first snapshot, while they learn.
    """
    draw, killed, per_kill = random.Random(plan.seed), folder / "killed", plan.per_kill
    n_at_work = n_sent = 0
    for life in range(plan.n_kills):
        half = life * per_kill + per_kill // 2
        end = feed(range(n_sent, half))
        n_sent = half
        with Command(folder, *run) as learner:
            if at_work := comes_to_work(learner, killed, end, life, draw):
                n_sent = draw.randint(half + 1, half + per_kill // 2)
                end = feed(range(half, n_sent))
                time.sleep(draw.uniform(0, 0.1))
            assert learner.runs, f"it ended by itself and said:\n{learner.said}"
            learner.kill()
        n_at_work += at_work and newest_offset(killed) < end
    feed(range(n_sent, plan.n_records))
    finish(folder, [*run, "--stop-at-end"])
    return n_at_work


def outcome_of(
    log: TestedLog, folder: Path, n_sent: int, n_at_work: int, partition: int = 0
) -> Outcome:
    """Return the results of the runs with snapshots in `killed` and `whole`."""
    return Outcome(
        saved(folder / "killed", log.name, partition),
        saved(folder / "whole", log.name, partition),
        values_of(log.published("p", partition)),
        values_of(log.published("q", partition)),
        _letters(log, "p-letters", partition),
        _letters(log, "q-letters", partition),
        n_sent,
        n_at_work,
    )


def _letters(log: TestedLog, topic: str, partition: int) -> list[str]:
    """Return the dead letters of a partition of the events; their topic has one partition."""
    found = [letter.decode() for letter in log.published(topic)]
    return [each for each in found if json.loads(each)["partition"] == partition]


def comes_to_work(learner: Command, folder: Path, end: int, life: int, draw: random.Random) -> bool:
    """Wait for a snapshot somewhere between the newest one and the log's end; return True.

    Of one life in five, wait for a moment while it starts instead, and return False.
    """
    if life % 5 == 4:
        time.sleep(draw.uniform(0, 0.8))
        return False
    before = newest_offset(folder)
    goal = draw.uniform(before, max(before + 1, end - 1))
    while newest_offset(folder) <= goal:
        assert learner.runs, f"it ended by itself and said:\n{learner.said}"
        time.sleep(0.01)
    return True


def send(log: TestedLog, record: Callable[[int], KeyedRecord], numbers: range) -> int:
    """Append the records of these numbers, and return the offset of the last one."""
    last = -1
    for chunk in chunks(numbers, _TRANSACTION):
        last = log.send(map(record, chunk))[-1]
    return last


def values_of(predictions: Iterable[bytes]) -> list[tuple[int, str]]:
    """Return of which offset each prediction is, and the whole message."""
    found = map(json.loads, predictions)
    return [(each["offset"], json.dumps(each)) for each in found]


def newest_offset(folder: Path) -> int:
    """Return the offset of the newest snapshot below a folder; -1 without one."""
    names = [file.stem.split("-") for file in folder.rglob("*.snapshot")]
    return max((int(offset) for _, offset in names), default=-1)


def finish(folder: Path, run: list[str]) -> None:
    """Let a run end by itself."""
    with Command(folder, *run) as learner:
        assert learner.wait(3600) == 0, learner.said
