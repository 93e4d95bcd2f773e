"""Kills the learner repeatedly while it joins events with labels of a log of their own."""

from __future__ import annotations

import json
import random
import shutil
import time
from pathlib import Path

from support.embedded_log import append, values
from support.running_command import Command
from support.saved_state import saved

from chaos.late_stream import late_records, number
from chaos.learner_kills import Outcome
from iln_stream.streams import NewRecord
from iln_stream.streams.sqlite import create_topic

_ARGUMENTS = (
    *("--learner", "infinite-layer", "--learner-options", '{"profile": "fast"}'),
    *("--prediction-intervals", "0.9", "--recent-ids", "1000", "--pending-events", "2000"),
    # A record without a time waits until the other partitions are read, so many labels are early.
    *("--pending-seconds", "20000"),
)
N_EVENTS, N_LABELS = 2, 3
"""Partitions of the events and of the labels."""
_MOST = 120
"""Records that are appended at once, at most."""


def kill_joiners(
    folder: Path, *, n_kills: int, records_per_kill: int, seed: int, transactional: bool
) -> Outcome:
    """Feed a learner events and labels, two logs of one file, and kill it `n_kills` times.

    The order in which the records of all partitions are learned is that in which they arrived, and
    different each time. So the uninterrupted run resumes from the first snapshot, of before the
    first record, and repeats the order that the killed run's journal has.
    """
    path = folder / "two.db"
    for topic, n_partitions in (("events", N_EVENTS), ("labels", N_LABELS), ("p", N_EVENTS)):
        create_topic(path, topic, n_partitions)
    create_topic(path, "q", N_EVENTS)
    draw = random.Random(seed)
    of_both = (
        *("run", "--source", f"sqlite:{path}", "--labels", f"sqlite:{path}#labels"),
        *("--start", "earliest", "--metrics-port", "0", *_ARGUMENTS),
    )
    often = (
        *("--snapshot-seconds", "0.05"),
        *("--snapshot-keep", "100000"),  # so the journal keeps the whole order
    )
    flag = "--transactional" if transactional else "--no-transactional"
    run = [*of_both, *_outputs(path, "p", folder / "killed"), *often, flag]
    records = [value or b"" for _, value in late_records(n_kills * records_per_kill, seed, number)]
    n_behind = n_sent = 0
    for life in range(1, n_kills + 1):
        end = life * records_per_kill
        n_sent = _feed(path, records, n_sent, end - records_per_kill // 2, draw)
        with Command(folder, *run) as learner:
            learner.wait_until_it_says("metrics at")
            n_sent = _feed(path, records, n_sent, end, draw)
            time.sleep(draw.uniform(0, 0.8))
            assert learner.runs, f"it ended by itself and said:\n{learner.said}"
            learner.kill()
        n_behind += _learned(folder / "killed") < n_sent
    _finish(folder, [*run, "--stop-at-end"])
    _begin_again(folder / "killed", folder / "whole")
    whole = [*of_both, *_outputs(path, "q", folder / "whole"), "--no-transactional"]
    _finish(folder, [*whole, "--stop-at-end"])
    return Outcome(
        saved(folder / "killed", "two-events", "all"),
        saved(folder / "whole", "two-events", "all"),
        _published(path, "p"),
        _published(path, "q"),
        [value.decode() for value in values(path, "p-letters")],
        [value.decode() for value in values(path, "q-letters")],
        n_sent,
        n_behind,
    )


def _outputs(path: Path, topic: str, snapshots: Path) -> list[str]:
    return [
        *("--predictions", f"sqlite:{path}#{topic}"),
        *("--dead-letters", f"sqlite:{path}#{topic}-letters", "--snapshots", str(snapshots)),
    ]


def _feed(path: Path, records: list[bytes], begin: int, end: int, draw: random.Random) -> int:
    """Append records, in turns of random lengths, each to a random partition; return `end`."""
    while begin < end:
        stop = min(end, begin + draw.randint(1, _MOST))
        part = [NewRecord(value, key=str(draw.random())) for value in records[begin:stop]]
        append(path, [each for each in part if b'"x"' in each.value])
        append(path, [each for each in part if b'"x"' not in each.value], "labels")
        begin = stop
    return begin


def _learned(folder: Path) -> int:
    """How many records the newest snapshot is of."""
    return sum(saved(folder, "two-events", "all").header.positions.values())


def _begin_again(killed: Path, whole: Path) -> None:
    """Copy the snapshots' folder with the first snapshot and the journal only."""
    shutil.copytree(killed, whole)
    later = sorted(whole.rglob("*.snapshot"), key=_epoch_and_offset)[1:]
    for file in later:
        file.unlink()


def _epoch_and_offset(snapshot: Path) -> tuple[int, int]:
    epoch, offset = snapshot.stem.split("-")
    return int(epoch), int(offset)


def _published(path: Path, topic: str) -> list[tuple[int, str]]:
    """Of which offset each prediction is, and the whole message with its partition, in order."""
    found = [json.loads(value) for n in range(N_EVENTS) for value in values(path, topic, n)]
    return sorted((each["offset"], json.dumps(each)) for each in found)


def _finish(folder: Path, run: list[str]) -> None:
    with Command(folder, *run) as learner:
        assert learner.wait(600) == 0, learner.said
