"""Kills the learner repeatedly with SIGKILL while it learns."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from support.kafka_topics import create_topic, read_topic, unique_topic
from support.running_command import Command
from support.saved_state import Saved, saved

from chaos.stream import Feed

QUICK = '{"budget": 50, "draws": 16}'


class Outcome(NamedTuple):
    """Results to compare after the last run."""

    killed: Saved
    uninterrupted: Saved
    published: list[tuple[int, float]]
    expected: list[tuple[int, float]]
    n_sent: int
    n_behind: int
    """Number of kills while the newest snapshot was behind the sent records."""

    def faults(self, exactly_once: bool) -> list[str]:
        """Return each broken guarantee; empty if all hold."""
        found = []
        if self.killed.learner != self.uninterrupted.learner:
            found.append("the state differs from the uninterrupted run's")
        for name in ("n_events", "n_labelled", "n_dead_letters"):
            ours, theirs = getattr(self.killed, name), getattr(self.uninterrupted, name)
            if ours != theirs:
                found.append(f"{name} is {ours}, and {theirs} without kills")
        if self.killed.n_events + self.killed.n_dead_letters != self.n_sent:
            found.append("learned, predicted and dead letters are not what was sent")
        if sorted(set(self.published)) != self.expected:
            found.append("the predictions published are not those of the uninterrupted run")
        repeated = sum(count > 1 for count in Counter(self.published).values())
        if exactly_once and repeated:
            found.append(f"{repeated} predictions were published more than once")
        return found


def arguments(bootstrap: str, topic: str, folder: Path, predictions: str, *more: str) -> list[str]:
    """A run's command line."""
    return [
        *("run", "--bootstrap", bootstrap, "--topic", topic, "--start", "earliest"),
        *("--learner", "shrinking-gradient", "--learner-options", QUICK),
        *("--metrics-port", "0", "--snapshots", str(folder)),
        *("--predictions", f"kafka:{predictions}", "--dead-letters", f"kafka:{topic}-letters"),
        *more,
    ]


def kill_learners(
    bootstrap: str,
    folder: Path,
    *,
    n_kills: int,
    events_per_kill: int,
    seed: int,
    more: tuple[str, ...] = (),
) -> Outcome:
    """Feed a learner and kill it `n_kills` times; then let it finish, and compare.

    Each life ends at a random moment, some before the first event is learned, most while events
    are learned and snapshots written.
    """
    draw = random.Random(seed)
    topic = create_topic(bootstrap, name=unique_topic("kills"))
    feed = Feed(bootstrap, topic)
    often = ("--snapshot-events", "200", "--snapshot-seconds", "0.05")
    run = arguments(bootstrap, topic, folder / "killed", f"{topic}-p", *often, *more)
    n_behind = 0
    for _ in range(n_kills):
        feed.send(events_per_kill)
        with Command(folder, *run) as learner:
            learner.wait_until_it_says("metrics at")
            time.sleep(draw.uniform(0, 0.8))
            assert learner.runs, f"it ended by itself and said:\n{learner.said}"
            learner.kill()
        n_behind += _newest_offset(folder / "killed") < feed.last_offset
    _finish(folder, [*run, "--stop-at-end"])
    feed.close()

    alone = arguments(bootstrap, topic, folder / "whole", f"{topic}-q", "--stop-at-end")
    _finish(folder, alone)
    return Outcome(
        saved(folder / "killed", topic),
        saved(folder / "whole", topic),
        published(bootstrap, f"{topic}-p"),
        published(bootstrap, f"{topic}-q"),
        feed.n_sent,
        n_behind,
    )


def published(bootstrap: str, topic: str) -> list[tuple[int, float]]:
    """The committed predictions of a topic: of which offset, and what."""
    found = (json.loads(record.value) for record in read_topic(bootstrap, topic))
    return [(each["offset"], each["y_pred"]) for each in found]


def _newest_offset(folder: Path) -> int:
    names = [file.stem.split("-") for file in folder.rglob("*.snapshot")]
    return max((int(offset) for _, offset in names), default=-1)


def _finish(folder: Path, run: list[str]) -> None:
    with Command(folder, *run) as learner:
        assert learner.wait(600) == 0, learner.said
