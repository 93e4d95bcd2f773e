"""Runs a cell: a learner on a stream. An interrupted run goes on from its last snapshot."""

import sys
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.endurance.contest import Contest
from benchmarks.endurance.digest import digest
from benchmarks.endurance.learners import LEARNERS, PACKAGES
from benchmarks.endurance.machine import longest_pauses
from benchmarks.endurance.streams import AT_ONCE, chunks
from benchmarks.endurance.tally import Tally, figure
from benchmarks.records import versions_of
from benchmarks.speed.memory import resident_mib
from iln_stream.learners import model_of, state_of
from iln_stream.state import from_bytes, to_bytes

SEED = 1
SNAPSHOTS = Path("out/endurance")
SNAPSHOT_EVERY = 100_000
READINGS = 20
"""Readings of the memory in a run, one more after 10,000 events."""

WARM_UP = 3_000
"""Events that another learner of the kind takes before: functions are compiled meanwhile."""

PAUSES_SECONDS = 2.0
"""Duration of the empty loop that shows the machine's own pauses."""


class Cell(NamedTuple):
    """A cell: ids of a learner and a stream, and the number of events, a multiple of 1,000."""

    learner: str
    stream: str
    events: int


def snapshot_of(cell: Cell, folder: Path = SNAPSHOTS) -> Path:
    """Return where the snapshot of an unfinished cell lies."""
    return folder / f"{cell.learner}_{cell.stream}_{cell.events}.npz"


def measured(cell: Cell) -> dict[str, Any]:
    """Return a cell's record, and print progress."""
    _warm(cell)
    run = Run(cell)
    run.take(cell.events - run.n)
    record = run.figures() | longest_pauses(PAUSES_SECONDS)
    snapshot_of(cell).unlink(missing_ok=True)
    return record


def _warm(cell: Cell) -> None:
    entrant = LEARNERS[cell.learner]
    contest = Contest(entrant, entrant.make(SEED + 1))
    for chunk in islice(chunks(cell.stream, SEED + 1), WARM_UP // AT_ONCE):
        contest.take(chunk)


class Run:
    """A run of a cell, new or from its snapshot.

    Parameters
    ----------
    cell
        Which.
    folder
        Where its snapshot lies while it is unfinished.
    snapshot_every
        Number of events between snapshots, a multiple of 1,000.

    """

    def __init__(
        self, cell: Cell, folder: Path = SNAPSHOTS, snapshot_every: int = SNAPSHOT_EVERY
    ) -> None:
        self.cell = cell
        self.code = digest(LEARNERS[cell.learner].roots)
        self._file = snapshot_of(cell, folder)
        self._snapshot_every = snapshot_every
        self._tally = Tally()
        self._readings: list[list[float]] = []
        self._resumed: list[int] = []
        self._state_bytes: list[list[int]] = []
        self._contest = self._begun()

    @property
    def n(self) -> int:
        """Number of events taken."""
        return self._tally.n

    def take(self, events: int) -> None:
        """Take the next events, a multiple of 1,000; keep snapshots and print progress."""
        reading_every = max(AT_ONCE, self.cell.events // READINGS // AT_ONCE * AT_ONCE)
        for chunk in islice(chunks(self.cell.stream, SEED, self.n), events // AT_ONCE):
            self._tally.add(*self._contest.take(chunk))
            if self.n % self._snapshot_every == 0:
                self._keep()
                print(self._line(), flush=True)
            if self.n % reading_every == 0 or self.n == 10_000:
                self._readings.append([self.n, resident_mib(), sys.getallocatedblocks()])

    def figures(self) -> dict[str, Any]:
        """Return the record of the events taken."""
        return {
            **self._tally.figures(),
            "n_reset": getattr(self._contest.model, "n_reset", None),
            "memory": [[n, figure(mib), blocks] for n, mib, blocks in self._readings],
            "state_bytes": self._state_bytes,
            "resumed": self._resumed,
            "code": self.code,
            "versions": versions_of(PACKAGES),
        }

    def _begun(self) -> Contest:
        entrant = LEARNERS[self.cell.learner]
        state = from_bytes(self._file.read_bytes()) if self._file.exists() else None
        if state is None or state["code"] != self.code:
            return Contest(entrant, entrant.make(SEED))
        self._tally.restore(state["tally"])
        self._readings, self._state_bytes = state["readings"], state["state_bytes"]
        self._resumed = [*state["resumed"], self.n]
        contest = Contest(entrant, model_of(state["model"]))
        contest.restore(state["contest"])
        return contest

    def _keep(self) -> None:
        """Write a snapshot, whole or not at all."""
        model = state_of(self._contest.model)
        self._state_bytes.append([self.n, len(to_bytes(model))])
        state = {
            "code": self.code,
            "tally": self._tally.state(),
            "readings": self._readings,
            "resumed": self._resumed,
            "state_bytes": self._state_bytes,
            "contest": self._contest.state(),
            "model": model,
        }
        self._file.parent.mkdir(parents=True, exist_ok=True)
        beside = self._file.with_suffix(".tmp")
        beside.write_bytes(to_bytes(state))
        beside.replace(self._file)

    def _line(self) -> str:
        figures, cell = self._tally.figures(), self.cell
        last = figures["segments"][-1]
        error = "no finite error" if last["mean"] is None else f"error {last['mean']:.4g}"
        return (
            f"{cell.learner} on {cell.stream}: {self.n:,} of {cell.events:,} events, "
            f"{figures['us']:.0f} us an event, {error} (running mean {last['base_mean']:.4g})"
        )
