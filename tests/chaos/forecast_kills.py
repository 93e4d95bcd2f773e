"""Kills a service that forecasts at several horizons repeatedly with SIGKILL."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

from support.running_command import Command
from support.saved_state import saved

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


def kill_forecasters(
    log: TestedLog,
    folder: Path,
    *,
    n_kills: int,
    records_per_kill: int,
    seed: int,
    more: tuple[str, ...],
) -> list[str]:
    """Feed three learners and kill their process `n_kills` times; return each broken guarantee.

    Each life ends while records are learned, after snapshots of this life.
    """
    draw = random.Random(seed)
    often = ("--snapshot-seconds", "0.05")
    run = log.arguments(folder / "killed", "p", *_FIELDS, *often, *more)
    for life in range(n_kills):
        first = life * records_per_kill
        numbers = range(first, first + records_per_kill)
        log.send(map(measured, numbers[: records_per_kill // 2]))
        with Command(folder, *run) as learners:
            _wait_for_events(learners, 0.9 * (first + draw.uniform(0.1, 0.4) * records_per_kill))
            log.send(map(measured, numbers[records_per_kill // 2 :]))
            time.sleep(draw.uniform(0, 0.2))
            learners.kill()
            assert life == 0 or "resuming from the newest snapshot" in learners.said
    for arguments in (run, log.arguments(folder / "whole", "q", *_FIELDS)):
        with Command(folder, *arguments, "--stop-at-end") as learners:
            assert learners.wait(600) == 0, learners.said
    found = [fault for horizon in HORIZONS for fault in _differences(log, folder, horizon)]
    published, expected = (_values(log.predictions(name)) for name in "pq")
    if sorted(set(published)) != sorted(expected):
        found.append("the forecasts published are not those of the uninterrupted run")
    if len(set(expected)) != len(HORIZONS) * len({offset for offset, _ in expected}):
        found.append("some records have no forecast for each horizon")
    if repeated := sum(count > 1 for count in Counter(published).values()):
        found.append(f"{repeated} forecasts were published more than once")
    return found


def _wait_for_events(learners: Command, n: float) -> None:
    """Wait until a learner has so many events; 1 in 10 records is none."""
    learners.wait_for_metrics(lambda now: now.get("iln_events_total", 0) > n)


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


def _values(predictions: list[Any]) -> list[tuple[int, str]]:
    return [(each["offset"], json.dumps(each)) for each in predictions]
