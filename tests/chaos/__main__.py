"""The chaos tests at full size: `python -m chaos`, which `make chaos` runs."""

import argparse
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from support.command_line import iln
from support.kafka_broker import KafkaBroker

from benchmarks.speed.report import versions
from chaos.appender_kills import kill_appenders
from chaos.broker_kills import kill_brokers
from chaos.contest_kills import kill_contests
from chaos.forecast_kills import SERIES, kill_forecasters
from chaos.garbage import flood
from chaos.keyed_kills import kill_keyed_learners
from chaos.late_kills import CASES, kill_late_learners
from chaos.learner_kills import IN_A_ROW, Plan, kill_learners
from chaos.load import load
from chaos.logs import EmbeddedLog, KafkaLog, TestedLog
from chaos.order_kills import N_PARTITIONS, kill_in_one_order, kill_joiners
from chaos.version_kills import kill_publishers
from chaos.worker_kills import kill_workers

BOTH = (False, True)
LOGS = ("embedded", "kafka")
RESULTS = Path("benchmarks/results/chaos.json")


class Kills(NamedTuple):
    """Who is killed while it learns from a log."""

    name: str
    kill: Callable[..., Any]
    flag: str
    """Number of kills on each kind of log."""
    share: int
    """Each way of these kills has one of so many parts of the number."""
    per_kill: int | None = None
    """Records for each kill; None: as the flags say."""
    ways: tuple[bool, ...] = (True,)
    """Whether predictions are published in transactions."""
    partitions: int = 1


OF_ANY_LOG = (
    Kills("the learner", kill_learners, "kills", 2, ways=BOTH),
    Kills("events in a row", partial(kill_learners, of_both=IN_A_ROW), "kills", 4, ways=BOTH),
    Kills("one order", kill_in_one_order, "kills", 4, None, BOTH, N_PARTITIONS),
    Kills("contests", kill_contests, "kills", 4, 600),
    Kills("a model by key", kill_keyed_learners, "keyed_kills", 1, 1_000),
    Kills("forecasts", kill_forecasters, "kills", 8, 600),
    Kills("forecasts of series", partial(kill_forecasters, series=SERIES), "kills", 8, 600),
    *(
        Kills(
            f"late labels, {case}", partial(kill_late_learners, case=case), "late_kills", 6, 1_500,
            BOTH,
        )
        for case in CASES
    ),
)  # fmt: skip
OF_EMBEDDED_LOGS = (
    *OF_ANY_LOG,
    Kills("labels of another log", kill_joiners, "label_kills", 2, 1_500, BOTH, N_PARTITIONS),
    Kills("versions and a pin", kill_publishers, "kills", 4, 600),
    Kills("workers or their supervisor", kill_workers, "worker_kills", 2, 500, BOTH, N_PARTITIONS),
)


def main() -> int:
    """Run everything; return 1 if a guarantee was broken."""
    parser = argparse.ArgumentParser(prog="chaos", description=__doc__)
    parser.add_argument("--events", type=int, default=200_000, help="while the learner is killed")
    parser.add_argument("--kills", type=int, default=200, help="of the learner on each kind of "
                        "log, half of them with transactional predictions")  # fmt: skip
    parser.add_argument("--late-kills", type=int, default=200, help="of the learner on each kind "
                        "of log, while it joins late labels with their events")  # fmt: skip
    parser.add_argument("--label-kills", type=int, default=25, help="of the learner, on the "
                        "embedded log, while it joins two topics")  # fmt: skip
    parser.add_argument("--keyed-kills", type=int, default=200, help="of a model by key on each "
                        "kind of log, with 100 of 10,000 keys in memory")  # fmt: skip
    parser.add_argument("--worker-kills", type=int, default=50, help="on the embedded log, half "
                        "of them of the supervisor")  # fmt: skip
    parser.add_argument("--broker-kills", type=int, default=20)
    parser.add_argument("--payloads", type=int, default=1_000_000, help="half of them spoilt")
    parser.add_argument("--minutes", type=int, default=60, help="of events that are posted to an "
                        "API, while API and learner end again and again")  # fmt: skip
    parser.add_argument("--logs", nargs="+", choices=LOGS, default=LOGS)
    names = [kind.name for kind in OF_EMBEDDED_LOGS]
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--json", type=Path, default=RESULTS, help="replaces what it has of the "
                        "same names")  # fmt: skip
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"--seed {given.seed}", flush=True)
    faults: list[str] = []
    with tempfile.TemporaryDirectory(prefix="iln-chaos-") as name:
        folder = Path(name)
        # A learner that compiles is killed before it learns.
        assert iln("warm", cwd=folder, timeout=3600).returncode == 0
        if "embedded" in given.logs:
            faults += _kill(OF_EMBEDDED_LOGS, _embedded, folder / "embedded", given)
            if n_kills := given.kills // 4:
                outcome = kill_appenders(folder / "appended.db", n_kills=n_kills, seed=given.seed)
                faults += _reported(given, "an appender", n_kills, outcome)
            if given.minutes:
                loaded = load(folder, minutes=given.minutes, seed=given.seed)
                faults += _reported(given, "minutes under load", given.minutes, loaded)
        if "kafka" in given.logs:
            with KafkaBroker(folder / "broker", borrow=False) as broker:
                faults += _kafka(broker, folder / "kafka", given)
    print("\n".join(faults) or "all as promised")
    return 1 if faults else 0


def _kafka(broker: KafkaBroker, folder: Path, given: argparse.Namespace) -> list[str]:
    def topic(path: Path, partitions: int) -> TestedLog:
        return KafkaLog(broker.bootstrap, path.stem, partitions)

    faults = _kill(OF_ANY_LOG, topic, folder, given)
    if n_kills := given.broker_kills:
        outcome = kill_brokers(broker, folder, n_kills=n_kills, seed=given.seed)
        faults += _reported(given, "the broker", n_kills, outcome)
        late = [each for each in outcome.seconds_to_learn if each > 5]
        faults += [f"{each:.1f} s until learning again" for each in late]
    if given.payloads:
        coped = flood(broker.bootstrap, folder, given.payloads, given.seed)
        faults += _reported(given, "payloads", given.payloads, coped)
    return faults


def _embedded(path: Path, partitions: int) -> TestedLog:
    return EmbeddedLog(path, partitions)


def _kill(
    kinds: tuple[Kills, ...],
    make_log: Callable[[Path, int], TestedLog],
    folder: Path,
    given: argparse.Namespace,
) -> list[str]:
    """Kill all these learners in each of their ways; return the faults."""
    folder.mkdir()
    faults: list[str] = []
    kinds = tuple(kind for kind in kinds if kind.name in given.only)
    runs = [(kind, transactional) for kind in kinds for transactional in kind.ways]
    for i, (kind, transactional) in enumerate(runs):
        n_kills = -(-getattr(given, kind.flag) // kind.share)
        if not n_kills:
            continue
        own = folder / f"run-{i}"
        own.mkdir()
        log = make_log(folder / f"log-{i}.db", kind.partitions)
        way = "transactional" if transactional else "no-transactional"
        per_kill = kind.per_kill or given.events // given.kills
        outcome = kind.kill(log, own, Plan(n_kills, per_kill, given.seed + i, (f"--{way}",)))
        log.close()
        name = f"{type(log).__name__}, {kind.name}, {way}"
        faults += _reported(given, name, n_kills, outcome, transactional)
    return faults


def _reported(
    given: argparse.Namespace, name: str, count: int, outcome: Any, *exactly_once: bool
) -> list[str]:
    """Print and store what happened, and return the faults with their name."""
    faults, found = outcome.faults(*exactly_once), outcome.summary()
    print(f"{name}, {count}: {found}; {len(faults)} faults", flush=True)
    stored: dict[str, Any] = {"found": {}}
    with suppress(FileNotFoundError):
        stored = json.loads(given.json.read_text())
    stored["versions"] = versions()
    stored["found"][name] = {"count": count, "seed": given.seed, "found": found, "faults": faults}
    given.json.write_text(json.dumps(stored, indent=1) + "\n")
    return [f"{name}: {fault}" for fault in faults]


if __name__ == "__main__":
    sys.exit(main())
