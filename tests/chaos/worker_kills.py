"""Kills worker processes and their supervisor with SIGKILL while they learn."""

import os
import random
import re
import signal
import time
from pathlib import Path
from typing import NamedTuple

from support.running_command import Command

from chaos.learner_kills import (
    OFTEN,
    Outcome,
    Plan,
    comes_to_work,
    finish,
    newest_offset,
    outcome_of,
)
from chaos.logs import TestedLog
from chaos.order_kills import N_PARTITIONS
from chaos.stream import event

N_WORKERS = 2


class WorkersOutcome(NamedTuple):
    """Results to compare after the last run, of each partition."""

    partitions: list[Outcome]

    @property
    def n_at_work(self) -> int:
        """Number of kills after a life's first snapshot, with records still to learn."""
        return self.partitions[0].n_at_work

    def faults(self, exactly_once: bool) -> list[str]:
        """Return each broken guarantee; empty if all hold."""
        return [
            f"partition {number}: {fault}"
            for number, outcome in enumerate(self.partitions)
            for fault in outcome.faults(exactly_once)
        ]

    def summary(self) -> str:
        """Return what happened."""
        return " | ".join(outcome.summary() for outcome in self.partitions)


def kill_workers(log: TestedLog, folder: Path, plan: Plan) -> WorkersOutcome:
    """Feed two workers with three partitions; kill one worker in each life, then the supervisor.

    Four workers in five are killed while they learn, the others while they start. The supervisor
    is killed while workers learn, start again or still hold partitions that the next life's workers
    want. The uninterrupted run is one process.
    """
    draw, killed, per_kill = random.Random(plan.seed), folder / "killed", plan.per_kill
    both = ("--learner-per", "partition", *plan.more)
    run = log.arguments(killed, "p", *both, "--workers", str(N_WORKERS), *OFTEN)
    n_sent = n_at_work = 0
    for life in range(plan.n_kills // 2):
        n_sent = _feed(log, n_sent, n_sent + per_kill)
        with Command(folder, *run) as supervisor:
            while len(pids := _pids(supervisor)) < N_WORKERS:
                assert supervisor.runs, supervisor.said
                time.sleep(0.01)
            at_work = comes_to_work(supervisor, killed, n_sent, life, draw)
            n_sent = _feed(log, n_sent, n_sent + per_kill // 2)
            time.sleep(draw.uniform(0, 0.1))
            os.kill(draw.choice(pids), signal.SIGKILL)
            n_at_work += at_work and newest_offset(killed) < n_sent - 1
            time.sleep(draw.uniform(0, 2))  # it is started again after 1 s
            n_sent = _feed(log, n_sent, n_sent + per_kill // 2)
            time.sleep(draw.uniform(0, 0.1))
            assert supervisor.runs, f"it ended by itself and said:\n{supervisor.said}"
            supervisor.kill()
        n_at_work += at_work and newest_offset(killed) < n_sent - 1
    finish(folder, [*run, "--stop-at-end"])
    finish(folder, log.arguments(folder / "whole", "q", *both, "--stop-at-end"))
    return WorkersOutcome(
        [outcome_of(log, folder, n_sent, n_at_work, number) for number in range(N_PARTITIONS)]
    )


def _feed(log: TestedLog, begin: int, end: int) -> int:
    """Append so many events to each partition, others to each."""
    for number in range(N_PARTITIONS):
        log.send([event(1_000_000 * number + n) for n in range(begin, end)], number)
    return end


def _pids(supervisor: Command) -> list[int]:
    return [int(pid) for pid in re.findall(r"partitions \S+\): process (\d+)", supervisor.said)]
