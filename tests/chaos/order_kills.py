"""Kills a learner of several partitions, whose order is that in which records arrived."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

from support.embedded_log import append
from support.saved_state import saved

from chaos.late_stream import late_records, number
from chaos.learner_kills import OFTEN, Outcome, Plan, finish, kill_repeatedly, values_of
from chaos.logs import EmbeddedLog, TestedLog
from chaos.stream import event
from iln_stream.streams import NewRecord
from iln_stream.streams.sqlite import create_topic

N_PARTITIONS, N_LABELS = 3, 2
"""Partitions of the events and of the labels."""
_MOST = 300
"""Records that are appended at once, at most."""

_LABELLED = (
    *("--learner", "infinite-layer", "--learner-options", '{"profile": "fast"}'),
    *("--prediction-intervals", "0.9", "--recent-ids", "1000", "--pending-events", "2000"),
    # A record without a time waits until the other partitions are read, so many labels are early.
    *("--pending-seconds", "20000"),
)


def kill_in_one_order(
    log: TestedLog,
    folder: Path,
    plan: Plan,
    of_both: tuple[str, ...] = (),
    send: Callable[[range, random.Random], object] | None = None,
) -> Outcome:
    """Feed one learner of all partitions, unevenly, and kill it as planned.

    The order in which the records of all partitions are learned is that in which they arrived, and
    different each time. So the uninterrupted run resumes from the first snapshot, of before the
    first record, and repeats the order that the killed run's journal has.
    """

    def send_events(numbers: range, draw: random.Random) -> None:
        log.send(map(event, numbers), draw.randrange(N_PARTITIONS))

    draw, send = random.Random(plan.seed), send or send_events
    run = log.arguments(
        folder / "killed", "p", *of_both, *OFTEN, *plan.more,
        *("--snapshot-keep", "100000"),  # so the journal keeps the whole order
    )  # fmt: skip

    def feed(numbers: range) -> int:
        begin = numbers.start
        while begin < numbers.stop:
            stop = min(numbers.stop, begin + draw.randint(1, _MOST))
            send(range(begin, stop), draw)
            begin = stop
        return begin

    n_at_work = kill_repeatedly(folder, run, feed, plan)
    begin_again(folder / "killed", folder / "whole")
    whole = log.arguments(folder / "whole", "q", *of_both, "--no-transactional", "--stop-at-end")
    finish(folder, whole)
    published, expected = (
        sorted(values_of(each for n in range(N_PARTITIONS) for each in log.published(topic, n)))
        for topic in "pq"
    )
    return Outcome(
        saved(folder / "killed", log.name, "all"),
        saved(folder / "whole", log.name, "all"),
        published,
        expected,
        [letter.decode() for letter in log.published("p-letters")],
        [letter.decode() for letter in log.published("q-letters")],
        plan.n_records,
        n_at_work,
    )


def kill_joiners(log: EmbeddedLog, folder: Path, plan: Plan) -> Outcome:
    """Feed a learner events and labels, two logs of one file, and kill it as planned."""
    create_topic(log.path, "labels", N_LABELS)
    records = [value or b"" for _, value in late_records(plan.n_records, plan.seed, number)]

    def send(numbers: range, draw: random.Random) -> None:
        part = [NewRecord(records[n], key=str(draw.random())) for n in numbers]
        append(log.path, [each for each in part if b'"x"' in each.value])
        append(log.path, [each for each in part if b'"x"' not in each.value], "labels")

    both = ("--labels", f"sqlite:{log.path}#labels", *_LABELLED)
    return kill_in_one_order(log, folder, plan, both, send)


def begin_again(killed: Path, whole: Path) -> None:
    """Copy the snapshots' folder with the first snapshot and the journal only."""
    shutil.copytree(killed, whole)
    for file in sorted(whole.rglob("*.snapshot"))[1:]:
        file.unlink()
