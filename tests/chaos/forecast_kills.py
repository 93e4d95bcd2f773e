"""Kills a service that forecasts at several horizons repeatedly with SIGKILL."""

import json
import random
from functools import partial
from pathlib import Path
from typing import NamedTuple

from support.saved_state import saved

from chaos.learner_kills import Plan, published_faults, run_twice, send, values_of
from chaos.logs import TestedLog
from chaos.stream import KeyedRecord

HORIZONS = ("1", "24", "5h")
SERIES = ("--series", "shop", "--where", "temp < 28")
"""Three series in one log, and records that are passed over."""

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
    fields["shop"] = f"s{draw.randrange(3)}"
    return None, json.dumps(fields).encode()


class Outcome(NamedTuple):
    """Results to compare after the last run."""

    differences: list[str]
    published: list[tuple[int, str]]
    expected: list[tuple[int, str]]
    n_at_work: int

    def faults(self, exactly_once: bool) -> list[str]:
        """Return each broken guarantee; empty if all hold."""
        found = list(self.differences)
        found += published_faults(self.published, self.expected, exactly_once)
        if len(set(self.expected)) != len(HORIZONS) * len({offset for offset, _ in self.expected}):
            found.append("some records have no forecast for each horizon")
        return found

    def summary(self) -> str:
        """Return what happened."""
        return f"{len(self.published)} forecasts, {self.n_at_work} kills at work"


def kill_forecasters(
    log: TestedLog, folder: Path, plan: Plan, series: tuple[str, ...] = ()
) -> Outcome:
    """Feed three learners and kill their process as planned; then compare."""
    n_at_work = run_twice(log, folder, plan, partial(send, log, measured), (*_FIELDS, *series))
    differences = [each for horizon in HORIZONS for each in _differences(log, folder, horizon)]
    published, expected = (values_of(log.published(name)) for name in "pq")
    return Outcome(differences, published, expected, n_at_work)


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
