"""Kills a learner that publishes versions, one of which is pinned, repeatedly with SIGKILL."""

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from support.saved_state import Bits, bits_of, saved

from chaos.learner_kills import Outcome, Plan, finish, outcome_of, run_twice, send
from chaos.logs import EmbeddedLog
from chaos.stream import event
from iln_stream.snapshots.published_file import Version
from iln_stream.snapshots.versions import Versions
from iln_stream.streams import StreamPartition

KEEP = 3


class VersionOutcome(NamedTuple):
    """Results to compare after the last run."""

    outcome: Outcome
    faults_seen: list[str]
    pinned: Bits
    learned_alone: Bits
    n_seen: int

    def faults(self, exactly_once: bool) -> list[str]:
        """Return each broken guarantee; empty if all hold."""
        found = [*self.outcome.faults(exactly_once), *self.faults_seen]
        if self.pinned != self.learned_alone:
            found.append("the pinned version is not what its records alone make of a learner")
        return found

    def summary(self) -> str:
        """Return what happened."""
        return f"{self.outcome.summary()}; {self.n_seen} versions read between kills"


def kill_publishers(log: EmbeddedLog, folder: Path, plan: Plan) -> VersionOutcome:
    """Kill a learner that publishes as planned; pin a version that it published early.

    Before and within each life all versions that are kept are read: each is whole, positions grow
    with numbers, a number never changes what it means, and the pinned version stays. At the end it
    is compared with a learner that has learned the records before its positions and no others.
    """
    versions, origin = Versions(folder / f"models/{log.name}-0.model"), StreamPartition(log.name, 0)
    faults: list[str] = []
    seen: dict[int, int] = {}

    def look() -> None:
        before: tuple[int, int] = (0, 0)
        for number in versions.kept():
            with suppress(FileNotFoundError):  # the learner removes the oldest
                header = versions.file(number).read().header
                at = number, header.positions[origin]
                if header.version != number or at <= before or at[1] < before[1]:
                    faults.append(f"version {header.version} has number and position {at}")
                if seen.setdefault(number, at[1]) != at[1]:
                    faults.append(f"version {number} has changed its position")
                before = at
        if len(versions.kept()) > KEEP + 2:
            faults.append(f"{len(versions.kept())} versions are kept")
        if versions.pinned() is None and len(versions.kept()) == KEEP:
            versions.pin(versions.kept()[1])

    def feed(numbers: range) -> int:
        look()
        return send(log, event, numbers)

    keeping = ("--version-keep", str(KEEP), "--version-seconds", "0.2")
    more = ("--publish", str(folder / "models"), *keeping, *plan.more)
    n_at_work = run_twice(log, folder, plan._replace(more=more), feed)
    look()
    number = versions.pinned()
    assert number is not None, "too few versions were published"
    pinned: Version = versions.file(number).read()
    (folder / "until").mkdir()
    alone = EmbeddedLog(folder / "until" / log.path.name)
    send(alone, event, range(pinned.header.positions[origin]))
    finish(folder, alone.arguments(folder / "alone", "r", "--stop-at-end"))
    newest = versions.newest.read()
    outcome = outcome_of(log, folder, plan.n_records, n_at_work)
    if bits_of(newest.learner) != outcome.uninterrupted.learner:
        faults.append("the newest version is not the learner at the end")
    learner = saved(folder / "alone", log.name).learner
    return VersionOutcome(outcome, faults, bits_of(pinned.learner), learner, len(seen))
