"""Kills a service that forecasts at several horizons repeatedly with SIGKILL."""

import json
import random
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from support.running_command import Command
from support.saved_state import saved

from chaos.learner_kills import finish, values_of, wait_for_events
from chaos.logs import TestedLog
from chaos.stream import KeyedRecord

HORIZONS = ("1", "24", "5h")

_FIELDS = (
    *("--target", "load", "--time-field", "at", "--id-field", "id", "--recent-ids", "100"),
    *("--horizon", ",".join(HORIZONS), "--lags", '{"load": 24, "temp": [3]}'),
    *("--rolling-means", '{"load": [168]}', "--time-features", "hour,since_last"),
)


def measured(number: int) -> KeyedRecord:
    """Return an hourly record that depends on its number: 1 in 20 has no value, comes late, comes
    again or is malformed."""
    draw = random.Random(number)
    if number % 20 == 19:
        number -= 1  # a repeat
    if number % 20 == 9:
        return None, b'{"load": "%d?"' % number
    load = None if number % 20 == 4 else draw.gauss(10, 1) + number % 24
    at = 3600 * number + (7200 if number % 20 == 14 else draw.randrange(60))
    fields = {"at": at, "load": load, "temp": draw.uniform(0, 30), "id": f"m{number}"}
    return None, json.dumps(fields).encode()


class Outcome(NamedTuple):
    """Results to compare after the last run."""

    differences: list[str]
    published: list[tuple[int, str]]
    expected: list[tuple[int, str]]

    def faults(self, exactly_once: bool) -> list[str]:
        """Return each broken guarantee; empty if all hold."""
        found = list(self.differences)
        if sorted(set(self.published)) != sorted(self.expected):
            found.append("the forecasts published are not those of the uninterrupted run")
        if len(set(self.expected)) != len(HORIZONS) * len({offset for offset, _ in self.expected}):
            found.append("some records have no forecast for each horizon")
        repeated = sum(count > 1 for count in Counter(self.published).values())
        if exactly_once and repeated:
            found.append(f"{repeated} forecasts were published more than once")
        return found

    def summary(self) -> str:
        """Return what happened."""
        return f"{len(self.published)} forecasts"


def kill_forecasters(
    log: TestedLog,
    folder: Path,
    *,
    n_kills: int,
    per_kill: int,
    seed: int,
    more: tuple[str, ...],
) -> Outcome:
    """Feed three learners and kill their process `n_kills` times; then compare.

    Each life ends while records are learned, after snapshots of this life.
    """
    draw = random.Random(seed)
    often = ("--snapshot-seconds", "0.05")
    run = log.arguments(folder / "killed", "p", *_FIELDS, *often, *more)
    for life in range(n_kills):
        first = life * per_kill
        numbers = range(first, first + per_kill)
        log.send(map(measured, numbers[: per_kill // 2]))
        with Command(folder, *run) as learners:
            wait_for_events(learners, 0.9 * (first + draw.uniform(0.1, 0.4) * per_kill))
            log.send(map(measured, numbers[per_kill // 2 :]))
            time.sleep(draw.uniform(0, 0.2))
            learners.kill()
            assert life == 0 or "resuming from the newest snapshot" in learners.said
    finish(folder, [*run, "--stop-at-end"])
    finish(folder, log.arguments(folder / "whole", "q", *_FIELDS, "--stop-at-end"))
    differences = [each for horizon in HORIZONS for each in _differences(log, folder, horizon)]
    published, expected = (values_of(log.published(name)) for name in "pq")
    return Outcome(differences, published, expected)


def _differences(log: TestedLog, folder: Path, horizon: str) -> list[str]:
    """Return how a learner differs from that of the uninterrupted run."""
    killed, whole = (saved(folder / name, log.name, f"0@{horizon}") for name in ("killed", "whole"))
    same = {
        "learner": killed.learner == whole.learner,
        "counts": killed[3:] == whole[3:],
        **{
            part: str(killed.state[part]) == str(whole.state[part])
            for part in ("pending", "decoder", "recent_ids")
        },
    }
    return [f"{part} of horizon {horizon} differs" for part, is_same in same.items() if not is_same]
