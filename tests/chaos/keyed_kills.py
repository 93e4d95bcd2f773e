"""Kills a service with a model for each key, few of them in memory, repeatedly with SIGKILL."""

import json
import random
from pathlib import Path
from typing import NamedTuple

from support.saved_state import Saved, states_of_keys

from chaos.learner_kills import Outcome, Plan, kill_learners
from chaos.logs import TestedLog
from chaos.stream import KeyedRecord
from iln_stream.learners.keyed import KEYS_FILE

N_KEYS = 10_000
LIVE = 100

_KEYED = (
    *("--by-key", "customer", "--learner", "infinite-layer"),
    *("--learner-options", '{"profile": "fast"}'),
)


def of_customer(number: int) -> KeyedRecord:
    """Return an event that depends on its number: half of the events are of 100 keys, 1 in 10 has
    no label, 1 in 50 no key, and 1 in 50 is malformed."""
    draw = random.Random(number)
    if number % 50 == 49:
        return None, b'{"x": {"a": "%d"' % number
    customer = draw.randrange(100 if number % 2 else N_KEYS)
    x = {name: draw.uniform(-1, 1) for name in "ab"}
    y = None if number % 10 == 5 else customer % 17 + x["a"] * x["b"] + draw.gauss(0, 0.1)
    if number % 50 != 25:
        x["customer"] = f"c{customer}"
    return None, json.dumps({"x": x, "y": y, "id": f"e{number}"}).encode()


class KeyedOutcome(NamedTuple):
    """Results to compare after the last run."""

    outcome: Outcome
    killed: dict[str, bytes]
    uninterrupted: dict[str, bytes]

    def faults(self, exactly_once: bool) -> list[str]:
        """Return each broken guarantee; empty if all hold."""
        found = self.outcome.faults(exactly_once)
        if self.killed.keys() != self.uninterrupted.keys():
            found.append("the keys are not those of the uninterrupted run")
        differing = [k for k, state in self.uninterrupted.items() if self.killed.get(k) != state]
        if differing:
            found.append(f"{len(differing)} keys' states differ, such as that of {differing[0]}")
        return found

    def summary(self) -> str:
        """Return what happened."""
        return f"{self.outcome.summary()}; {len(self.uninterrupted)} keys, {LIVE} in memory"


def kill_keyed_learners(log: TestedLog, folder: Path, plan: Plan) -> KeyedOutcome:
    """Feed a model by key events of 10,000 keys and kill it as planned; then compare.

    The killed run has 100 keys in memory, and takes a checkpoint every 200 events; the run that is
    not killed has all keys in memory.
    """
    few = plan._replace(more=("--keys-in-memory", str(LIVE), *plan.more))
    outcome = kill_learners(log, folder, few, _KEYED, of_customer)
    states = [
        _states(folder / name / f"{log.name}-0", found)
        for name, found in (("killed", outcome.killed), ("whole", outcome.uninterrupted))
    ]
    return KeyedOutcome(outcome, *states)


def _states(folder: Path, found: Saved) -> dict[str, bytes]:
    """Return the states of all keys as of the newest snapshot, and take their number from it.

    How many checkpoints there were differs between the runs.
    """
    stored = found.state["learner"]["keys"]
    states = states_of_keys(folder / KEYS_FILE, stored)
    for name in ("since", "generation", "file", "transactions"):
        del stored[name]
    return {key: row.tobytes() for key, row in states.items()}
