"""`run --workers N`: real processes that learn from real logs."""

import json
import os
import re
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import sleep
from typing import Any

import pytest
from chaos.late_stream import late_records, number
from chaos.logs import EmbeddedLog, TestedLog
from chaos.stream import event
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families
from support.embedded_log import settings_of
from support.running_api import eventually
from support.running_command import Command
from support.saved_state import saved
from support.web import ask

from iln_stream.errors import IlnError
from iln_stream.loop import Listener, Step
from iln_stream.service import Settings, SettingsError, WorkerJob, WorkerProcesses
from iln_stream.service.supervisor import RestartPolicy
from iln_stream.service.worker_processes import shares_of
from iln_stream.streams.sqlite import Retention, trim

PARTITIONS = 4
N = 100
"""Events of each partition, in one batch."""


@pytest.fixture
def embedded(tmp_path: Path) -> EmbeddedLog:
    """An embedded log with four partitions and a batch of events in each."""
    made = EmbeddedLog(tmp_path / "log.db", PARTITIONS)
    send(made, 0)
    return made


def send(log: TestedLog, batch: int) -> None:
    """Append a batch of events to each partition."""
    for partition in range(PARTITIONS):
        first = 100_000 * partition + batch * N
        log.send(map(event, range(first, first + N)), partition)


def run(log: TestedLog, folder: Path, workers: int, *more: str, out: str = "p") -> Command:
    """Start a run with a learner per partition, and snapshots in a folder of the given one."""
    arguments = log.arguments(folder / f"state-{out}", out, "--learner-per", "partition", *more)
    return Command(folder, *arguments, "--workers", str(workers))


def run_to_the_end(
    log: TestedLog, folder: Path, workers: int, *more: str, out: str = "p"
) -> Command:
    """Run until all that the log holds is learned."""
    with run(log, folder, workers, "--stop-at-end", *more, out=out) as command:
        assert command.wait() == 0, command.said
    return command


def by_horizon(predictions: list[bytes]) -> dict[str | None, list[bytes]]:
    """Group predictions, as the learners of different horizons write in no common order; without
    those that repeat one."""
    groups: dict[str | None, list[bytes]] = {}
    for each in dict.fromkeys(predictions):
        groups.setdefault(json.loads(each).get("horizon"), []).append(each)
    return groups


def assert_as_one_process(log: TestedLog, folder: Path, *more: str, out: str = "p") -> None:
    """Each learner and its predictions are those of one process that was not interrupted."""
    run_to_the_end(log, folder, 1, *more, out="whole")
    names = sorted(each.name for each in (folder / "state-whole").iterdir())
    assert sorted(each.name for each in (folder / f"state-{out}").iterdir()) == names
    assert len(names) >= PARTITIONS
    for name in names:
        ours = saved(folder / f"state-{out}", *name.rsplit("-", 1))
        whole = saved(folder / "state-whole", *name.rsplit("-", 1))
        assert ours.header.positions == whole.header.positions
        assert ours.learner == whole.learner
        assert ours.bits["counts"] == whole.bits["counts"]
    for partition in range(PARTITIONS):
        predictions = by_horizon(log.published("whole", partition))
        assert predictions
        assert by_horizon(log.published(out, partition)) == predictions


def families(command: Command) -> dict[str, Metric]:
    """The metrics by family; none while nothing is served."""
    address = re.search(r"http://\S+/metrics", command.said)
    if address is None:
        return {}
    parsed = list(text_string_to_metric_families(ask(address[0])[1]))
    assert len({each.name for each in parsed}) == len(parsed)
    return {each.name: each for each in parsed}


def series(command: Command, name: str) -> dict[tuple[str, ...], float]:
    """The samples of a name by their labels' values."""
    return {
        tuple(sample.labels.values()): sample.value
        for family in families(command).values()
        for sample in family.samples
        if sample.name == name
    }


def learned(command: Command) -> float:
    """Number of predicted events of all partitions."""
    return sum(series(command, "iln_events_total").values())


def wait_until(command: Command, condition: Callable[[], Any]) -> None:
    """Wait until a condition holds; fail if the command ends or takes too long."""

    def holds() -> Any:
        assert command.runs, command.said
        return condition()

    eventually(holds)


def pids(command: Command) -> dict[int, int]:
    """The newest process of each worker, as the log names it."""
    found = re.findall(r"worker (\d+) \(partitions \S+\): process (\d+)", command.said)
    return {int(worker): int(pid) for worker, pid in found}


def lives(pid: int) -> bool:
    """Whether a process that is no child of this one lives."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


# Learning


@pytest.mark.thorough
def test_another_number_of_workers(embedded: EmbeddedLog, tmp_path: Path) -> None:
    """A run that was killed with one process is resumed by two, and then by three, to the bits of
    one process that was not interrupted: a learner does not depend on the process that has it."""
    with run(embedded, tmp_path, 1, "--snapshot-seconds", "0.05") as command:
        wait_until(command, lambda: learned(command) > PARTITIONS * N / 2)
        command.kill()
    send(embedded, 1)
    two = run_to_the_end(embedded, tmp_path, 2)
    assert "[worker 0] resuming from the newest snapshot" in two.said
    send(embedded, 2)
    run_to_the_end(embedded, tmp_path, 3)
    assert_as_one_process(embedded, tmp_path)


CHALLENGERS = {"small": {"learner": "pool", "learner_options": {"size": 16}}}


@pytest.mark.parametrize(
    "more",
    [
        pytest.param(
            (
                *("--pending-events", "100", "--recent-ids", "1000", "--publish", "models"),
                *("--challengers", json.dumps(CHALLENGERS), "--mixture"),
            ),
            id="late labels, challengers, published versions",
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            ("--target", "x.a", "--ignore", "y", "--horizon", "1,3"),
            id="horizon",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_what_belongs_to_a_partition(
    embedded: EmbeddedLog, tmp_path: Path, more: tuple[str, ...]
) -> None:
    """Settings that give a partition more than a learner do not depend on the process either."""
    for partition in range(PARTITIONS):
        embedded.send(late_records(N, partition, number, longest=50), partition)
    run_to_the_end(embedded, tmp_path, 2, *more)
    assert_as_one_process(embedded, tmp_path, *more)


@pytest.mark.parametrize("kind", ["embedded", pytest.param("kafka", marks=pytest.mark.thorough)])
def test_a_worker_is_killed(make_log: Callable[..., TestedLog], tmp_path: Path, kind: str) -> None:
    """A worker that is killed is restarted and ends with the bits of a run without kills; no
    counter goes back, and the other worker is not disturbed."""
    log = make_log(kind, PARTITIONS)
    send(log, 0)
    shown: list[dict[str, float]] = []
    with run(log, tmp_path, 2, "--snapshot-seconds", "0.05") as command:
        wait_until(command, lambda: learned(command) > PARTITIONS * N / 3)
        before = pids(command)
        os.kill(before[1], signal.SIGKILL)
        send(log, 1)

        def all_learned() -> bool:
            shown.append(counters(command))
            expected = PARTITIONS * 2 * N * 49 / 50  # one event in 50 is malformed
            return learned(command) == expected and all(counted(command).values())

        wait_until(command, all_learned)
        assert series(command, "iln_worker_restarts_total") == {("0",): 0.0, ("1",): 1.0}
        assert command.terminate() == 0, command.said
    after = pids(command)
    assert after[0] == before[0]
    assert after[1] != before[1]
    assert "worker 1 (partitions 1,3): ended by SIGKILL; starting it again in 1 s" in command.said
    last: dict[str, float] = {}
    for each in shown:
        for name, value in each.items():
            assert value >= last.get(name, 0.0), name
        last |= each
    assert_as_one_process(log, tmp_path)


SEEN = """
from math import fsum
from zlib import crc32

from river import base


class Seen(base.Regressor):
    def learn_one(self, x, y): ...

    def predict_one(self, x):
        return fsum(crc32(name.encode()) % 1_000 * value for name, value in x.items())
"""

BY_KEY = {
    "n": {"by": "@key", "over": "1min", "how": "count"},
    "sum": {"by": ["@key", "shop"], "of": "amount", "how": "sum"},
    "ratio": {"by": "@key", "of": "amount", "how": "ratio_to_mean"},
    "since": {"by": "@key", "how": "since_last"},
}


@pytest.mark.parametrize("kind", ["embedded", pytest.param("kafka", marks=pytest.mark.thorough)])
def test_inputs_by_the_record_s_key(
    make_log: Callable[..., TestedLog], tmp_path: Path, kind: str
) -> None:
    """Where the key chooses the partition, two workers, of which one is killed, give each event the
    inputs by key that one learner of all partitions gives it, to the bit, few keys in memory or
    not; a key that does not choose it is refused."""
    (tmp_path / "seen.py").write_text(SEEN)
    log = make_log(kind, PARTITIONS)

    def feed(batch: int) -> None:
        for partition in range(PARTITIONS):
            records = []
            for i in range(batch * N, (batch + 1) * N):
                card, amount = f"c{partition}-{i * i % 7}", 1.0 / (i % 13 + 1)
                row = {"at": i, "shop": i % 3, "amount": amount, "y": 0.0, "id": f"{partition}-{i}"}
                records.append((card.encode(), json.dumps(row).encode()))
            log.send(records, partition)

    learner = ("--learner", "seen:Seen", "--learner-options", "{}", "--snapshot-pickle")
    fields = ("--target", "y", "--time-field", "at", "--id-field", "id")
    both = (*learner, *fields, "--aggregates", json.dumps(BY_KEY))
    feed(0)
    few = ("--keys-in-memory", "3", "--snapshot-seconds", "0.05")
    with run(log, tmp_path, 2, *both, *few) as command:
        wait_until(command, lambda: learned(command) > PARTITIONS * N / 3)
        os.kill(pids(command)[1], signal.SIGKILL)
        feed(1)
        wait_until(command, lambda: learned(command) == PARTITIONS * 2 * N)
        assert command.terminate() == 0, command.said
    one = log.arguments(tmp_path / "state-one", "one", *both, "--stop-at-end")
    with Command(tmp_path, *one) as command:
        assert command.wait() == 0, command.said
    found = []
    for name in ("p", "one"):
        answers = [json.loads(a) for k in range(PARTITIONS) for a in log.published(name, k)]
        found.append({each["id"]: each["y_pred"] for each in answers})
    assert len(found[1]) == PARTITIONS * 2 * N
    assert found[0] == found[1]
    wrong = {**BY_KEY, "n_shop": {"by": "shop", "how": "count"}}
    with run(log, tmp_path, 2, *both[:-1], json.dumps(wrong), out="wrong") as command:
        assert command.wait() == 2
    assert "aggregates: n_shop: each of several learners" in command.said.replace("\n", " ")


def counters(command: Command) -> dict[str, float]:
    """All samples of counters and histograms."""
    return {
        f"{sample.name} {sorted(sample.labels.items())}": sample.value
        for family in families(command).values()
        if family.type in ("counter", "histogram")
        for sample in family.samples
    }


def counted(command: Command) -> dict[tuple[str, ...], float]:
    """Number of timed events of each partition."""
    return series(command, "iln_step_duration_seconds_count")


def is_stopped(process: int) -> bool:
    """Return whether all threads of a process are stopped."""
    states = [
        file.read_text().rpartition(")")[2].split()[0]
        for file in Path(f"/proc/{process}/task").glob("*/stat")
    ]
    return set(states) == {"T"}


def stop_outside_transactions(worker: int, path: Path) -> None:
    """Stop a process at a moment when others can write to the log."""
    while True:
        os.kill(worker, signal.SIGSTOP)
        while not is_stopped(worker):  # until then it may still begin a transaction
            sleep(0.001)
        with closing(sqlite3.connect(path, timeout=1.0, isolation_level=None)) as other:
            try:
                other.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:  # locked
                os.kill(worker, signal.SIGCONT)
            else:
                return


@pytest.mark.thorough
def test_the_supervisor_is_killed(embedded: EmbeddedLog, tmp_path: Path) -> None:
    """Workers whose supervisor was killed save their state and end; the next run gets their
    partitions, although it begins while they still hold them."""
    with run(embedded, tmp_path, 2) as command:
        wait_until(command, lambda: learned(command) > 0)
        workers = pids(command)
        send(embedded, 1)
        # It holds its partitions a little longer.
        stop_outside_transactions(workers[1], tmp_path / "log.db")
        command.kill()
        with run(embedded, tmp_path, 2, "--stop-at-end") as following:
            following.wait_until_it_says("another process learns with")
            os.kill(workers[1], signal.SIGCONT)
            assert following.wait() == 0, following.said
    assert not any(map(lives, workers.values()))
    assert command.said.count("the supervisor is gone") == 2
    assert_as_one_process(embedded, tmp_path)


@pytest.mark.thorough
def test_a_signal_saves_everything(embedded: EmbeddedLog, tmp_path: Path) -> None:
    """SIGINT reaches each worker, which finishes its event and saves its state, as SIGTERM does."""
    with run(embedded, tmp_path, 2) as command:
        wait_until(command, lambda: learned(command) == PARTITIONS * N * 49 / 50)
        command.signal(signal.SIGINT)
        assert command.wait() == 0, command.said
    assert not any(map(lives, pids(command).values()))
    for partition in range(PARTITIONS):
        found = saved(tmp_path / "state-p", embedded.name, partition)
        assert found.header.positions == {(embedded.name, partition): N}
    assert "[worker 1] partition 3: 98 events, 2 dead letters" in command.said


@pytest.mark.thorough
def test_a_signal_during_the_start(embedded: EmbeddedLog, tmp_path: Path) -> None:
    """Workers that have not begun yet are stopped, too."""
    with run(embedded, tmp_path, 2) as command:
        wait_until(command, lambda: len(pids(command)) == 2)
        assert command.terminate() == 0, command.said
    assert not any(map(lives, pids(command).values()))


# One address


@pytest.mark.thorough
def test_one_page_of_metrics(embedded: EmbeddedLog, tmp_path: Path) -> None:
    """/metrics has the series of all partitions, as one process would have them, and how the
    workers are; /live has all models; /ready names the workers that are not ready."""
    with run(embedded, tmp_path, 2) as command:
        wait_until(command, lambda: learned(command) == PARTITIONS * N * 49 / 50)
        found = families(command)
        status, _ = command.answer("/ready")
        assert status == 200
        live = json.loads(command.answer("/live?after=0")[1])
        assert [model["partition"] for model in live["models"]] == ["0", "1", "2", "3"]
        after = ",".join(
            str(model["n"] - partition) for partition, model in enumerate(live["models"])
        )
        newer = json.loads(command.answer(f"/live?after={after}")[1])
        assert [len(model["steps"]) for model in newer["models"]] == [0, 1, 2, 3]
        assert command.answer("/health") == (200, "alive\n")
        os.kill(pids(command)[0], signal.SIGSTOP)
        os.kill(pids(command)[1], signal.SIGKILL)
        wait_until(command, lambda: "starting it again" in command.said)
        status, text = command.answer("/ready")
        assert status == 503
        assert "worker 0 (partitions 0,2) does not answer yet" in text
        assert "worker 1 (partitions 1,3) " in text
        assert set(series(command, "iln_worker_up")) == {("0",), ("1",)}
        os.kill(pids(command)[0], signal.SIGCONT)
        wait_until(command, lambda: command.answer("/ready")[0] == 200)
        command.terminate()
    with run(embedded, tmp_path, 1, out="single") as command:
        wait_until(command, lambda: learned(command) == PARTITIONS * N * 49 / 50)
        single = families(command)
        command.terminate()
    assert found.keys() - single.keys() == {"iln_worker_up", "iln_worker_restarts"}
    assert single.keys() <= found.keys()
    for name, family in single.items():
        ours = found[name]
        assert (ours.type, ours.documentation) == (family.type, family.documentation)
        assert labels(ours) == labels(family)
    assert [s.value for s in found["iln_worker_up"].samples] == [1.0, 1.0]


def labels(family: Metric) -> set[tuple[str, str | None, str | None]]:
    """Name, partition and bucket of each sample."""
    return {(s.name, s.labels.get("partition"), s.labels.get("le")) for s in family.samples}


# Failures


@pytest.mark.thorough
def test_what_a_restart_can_not_fix(embedded: EmbeddedLog, tmp_path: Path) -> None:
    """A worker that refuses its snapshots is not restarted: the run ends with its message."""
    run_to_the_end(embedded, tmp_path, 1)
    with run(embedded, tmp_path, 2, "--seed", "7") as command:
        assert command.wait() == 2
    assert "was saved with other settings: seed was 1 and is 7" in command.said.replace("\n", " ")
    assert "starting it again" not in command.said
    assert not any(map(lives, pids(command).values()))


class FailsAtOffset10(Listener):
    """Fails in whichever process learns partition 1."""

    def on_step(self, step: Step) -> None:
        if (step.origin.partition, step.offset) == (1, 10):
            raise IlnError("offset 10 is not for me")


def in_process(path: Path, **more: Any) -> Settings:
    """Settings of a run from an embedded log."""
    own = {"learner_per": "partition", "workers": 2, "stop_at_end": False}
    return settings_of(path, **{**own, **more})


@pytest.mark.thorough
def test_a_worker_that_always_fails(
    embedded: EmbeddedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After as many restarts as allowed all workers are stopped, and the run fails with the message
    of the worker that failed."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    settings = in_process(
        tmp_path / "log.db", listeners="service.test_worker_processes:FailsAtOffset10"
    )
    processes = WorkerProcesses(settings, policy=RestartPolicy(limit=1, within=600, first=0.1))
    with pytest.raises(
        IlnError,
        match=r"worker 1 \(partitions 1,3\) failed after 1 restarts within 10 minutes: .*not for",
    ):
        processes.run()
    assert [worker.restarts.n for worker in processes.supervisor.workers] == [0, 1]
    assert all(worker.child is None for worker in processes.supervisor.workers)


def test_chosen_partitions_are_shared() -> None:
    """Each chosen partition has exactly one worker, and no worker has two more than another."""
    assert shares_of((1, 3, 5, 6, 9), 3) == [(1, 6), (3, 9), (5,)]


@pytest.mark.thorough
def test_a_loss_is_accepted_by_every_worker(embedded: EmbeddedLog, tmp_path: Path) -> None:
    """Retention deleted records that were not learned: without --accept-loss the run ends and names
    the flag; with it each worker goes on behind the loss."""
    run_to_the_end(embedded, tmp_path, 2)
    send(embedded, 1)
    trim(tmp_path / "log.db", "events", Retention(records=N // 2))
    with run(embedded, tmp_path, 2, "--stop-at-end") as command:
        assert command.wait() != 0
        assert "--accept-loss" in command.said
    run_to_the_end(embedded, tmp_path, 2, "--accept-loss")
    for partition in range(PARTITIONS):
        found = saved(tmp_path / "state-p", embedded.name, partition)
        assert found.header.positions == {(embedded.name, partition): 2 * N}


def test_settings_reach_the_workers_as_they_are(path: Path) -> None:
    """Values that text would change arrive unchanged, and so does what was given explicitly; more
    workers than partitions are refused."""
    given = in_process(path, pending_label='"0"', start="2026-01-31T12:00:00Z", partitions="3")
    settings = WorkerJob.of(1, given, (3,), accept_loss=False).settings
    assert settings == given.model_copy(update={"workers": 1})
    assert settings.pending_label == "0"
    assert settings.model_fields_set == given.model_fields_set
    EmbeddedLog(path, PARTITIONS)
    with pytest.raises(SettingsError, match=r"workers = 2: more than there are partitions \(1\)"):
        WorkerProcesses(given)
