"""The chaos tests at full size: `python -m chaos`, which `make chaos` runs."""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from support.kafka_broker import KafkaBroker

from chaos import one_order
from chaos.appender_kills import kill_appenders
from chaos.broker_kills import kill_brokers
from chaos.contest_kills import kill_contests
from chaos.forecast_kills import kill_forecasters
from chaos.garbage import flood
from chaos.keyed_kills import kill_keyed_learners
from chaos.label_kills import kill_joiners
from chaos.late_kills import CASES, kill_late_learners
from chaos.learner_kills import kill_learners
from chaos.logs import EmbeddedLog, KafkaLog, TestedLog


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
    parser.add_argument("--broker-kills", type=int, default=20)
    parser.add_argument("--payloads", type=int, default=1_000_000, help="half of them spoilt")
    parser.add_argument("--embedded", action="store_true", help="only the embedded log")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"--seed {given.seed}", flush=True)
    faults: list[str] = []
    with tempfile.TemporaryDirectory(prefix="iln-chaos-") as name:
        folder = Path(name)
        faults += _embedded(folder, given)
        if not given.embedded:
            with KafkaBroker(folder / "kafka", borrow=False) as broker:
                faults += _kafka(broker, folder, given)
    print("\n".join(faults) or "all as promised")
    return 1 if faults else 0


def _embedded(folder: Path, given: argparse.Namespace) -> list[str]:
    faults: list[str] = []
    for transactional, flag in ((False, "--no-transactional"), (True, "--transactional")):
        log = EmbeddedLog(folder / f"log-{transactional}.db")
        parts = EmbeddedLog(folder / f"parts-{transactional}.db", partitions=3)
        kills, order = folder / f"embedded-{transactional}", folder / f"parts-{transactional}"
        faults += _learner_kills(log, kills, given, transactional, flag)
        faults += _one_order(parts, order, given, transactional, flag)
    contests = EmbeddedLog(folder / "contests.db")
    faults += _contest_kills(contests, folder / "embedded-contests", given)
    faults += _keyed_kills(EmbeddedLog(folder / "keyed.db"), folder / "embedded-keyed", given)
    log = EmbeddedLog(folder / "forecasts.db")
    faults += _forecast_kills(log, folder / "embedded-forecasts", given)
    faults += _late_kills(lambda name: EmbeddedLog(folder / f"{name}.db"), folder / "late", given)
    faults += _label_kills(folder / "labels", given)
    return faults + _appender_kills(folder, given)


def _kafka(broker: KafkaBroker, folder: Path, given: argparse.Namespace) -> list[str]:
    faults: list[str] = []
    for transactional, flag in ((False, "--no-transactional"), (True, "--transactional")):
        log = KafkaLog(broker.bootstrap, "kills")
        parts = KafkaLog(broker.bootstrap, "order", partitions=3)
        kills, order = folder / f"kills-{transactional}", folder / f"order-{transactional}"
        faults += _learner_kills(log, kills, given, transactional, flag)
        faults += _one_order(parts, order, given, transactional, flag)
    contests = KafkaLog(broker.bootstrap, "contests")
    faults += _contest_kills(contests, folder / "contests", given)
    faults += _keyed_kills(KafkaLog(broker.bootstrap, "keyed"), folder / "keyed", given)
    log = KafkaLog(broker.bootstrap, "forecasts")
    faults += _forecast_kills(log, folder / "forecasts", given)
    faults += _late_kills(
        lambda name: KafkaLog(broker.bootstrap, name), folder / "kafka-late", given
    )
    faults += _broker_kills(broker, folder / "outages", given)
    return faults + _garbage(broker, folder / "garbage", given)


def _contest_kills(log: TestedLog, folder: Path, given: argparse.Namespace) -> list[str]:
    folder.mkdir()
    n_kills = given.kills // 4
    if not n_kills:
        return []
    outcome = kill_contests(
        log, folder, n_kills=n_kills, records_per_kill=600, seed=given.seed,
        more=("--transactional",),
    )  # fmt: skip
    log.close()
    promotions = outcome.killed.state["learner"]["promotions"]
    print(
        f"{type(log).__name__}: {n_kills} kills of contests; promotions: {promotions}", flush=True
    )
    return outcome.faults(exactly_once=True)


def _keyed_kills(log: TestedLog, folder: Path, given: argparse.Namespace) -> list[str]:
    folder.mkdir()
    if not given.keyed_kills:
        return []
    found = kill_keyed_learners(
        log, folder, n_kills=given.keyed_kills, events_per_kill=1_000, seed=given.seed,
        more=("--transactional",),
    )  # fmt: skip
    log.close()
    print(
        f"{type(log).__name__}: {given.keyed_kills} kills of a model by key over "
        f"{found.outcome.n_sent} events of {len(found.uninterrupted)} keys, 100 in memory; "
        f"{found.outcome.n_behind} kills with events still to learn; "
        f"{found.outcome.killed.n_labelled} learned",
        flush=True,
    )
    return found.faults(exactly_once=True)


def _forecast_kills(log: TestedLog, folder: Path, given: argparse.Namespace) -> list[str]:
    folder.mkdir()
    n_kills = given.kills // 4
    if not n_kills:
        return []
    found = kill_forecasters(
        log, folder, n_kills=n_kills, records_per_kill=600, seed=given.seed,
        more=("--transactional",),
    )  # fmt: skip
    log.close()
    print(f"{type(log).__name__}: {n_kills} kills of forecasters", flush=True)
    return found


def _appender_kills(folder: Path, given: argparse.Namespace) -> list[str]:
    if not given.kills:
        return []
    outcome = kill_appenders(folder / "appended.db", n_kills=given.kills // 4, seed=given.seed)
    print(
        f"{given.kills // 4} kills of an appender: {outcome.n_acknowledged} records acknowledged, "
        f"{len(outcome.stored)} stored",
        flush=True,
    )
    return outcome.faults()


def _learner_kills(
    log: TestedLog, folder: Path, given: argparse.Namespace, transactional: bool, flag: str
) -> list[str]:
    folder.mkdir()
    n_kills = given.kills // 2
    if not n_kills:
        return []
    outcome = kill_learners(
        log,
        folder,
        n_kills=n_kills,
        events_per_kill=given.events // given.kills,
        seed=given.seed + transactional,
        more=(flag,),
    )
    log.close()
    repeats = len(outcome.published) - len(set(outcome.published))
    print(
        f"{type(log).__name__}, {'transactional' if transactional else 'at least once'}: "
        f"{n_kills} kills over {outcome.n_sent} events, {outcome.n_behind} of them with events "
        f"still to learn; {outcome.killed.n_labelled} learned, {outcome.killed.n_dead_letters} "
        f"dead letters, {len(outcome.published)} predictions, {repeats} of them repeats",
        flush=True,
    )
    return outcome.faults(exactly_once=transactional)


def _one_order(
    log: TestedLog, folder: Path, given: argparse.Namespace, transactional: bool, flag: str
) -> list[str]:
    folder.mkdir()
    n_kills = given.kills // 4
    if not n_kills:
        return []
    outcome = one_order.kill_learners(
        log,
        folder,
        n_kills=n_kills,
        events_per_kill=given.events // given.kills,
        seed=given.seed + transactional,
        more=(flag,),
    )
    log.close()
    print(
        f"{type(log).__name__}, one order of three partitions, "
        f"{'transactional' if transactional else 'at least once'}: "
        f"{n_kills} kills over {len(outcome.payloads)} records, {outcome.n_behind} of them with "
        f"records still to learn; {len(outcome.published)} predictions",
        flush=True,
    )
    return outcome.faults(exactly_once=transactional)


def _late_kills(
    make_log: Callable[[str], TestedLog], folder: Path, given: argparse.Namespace
) -> list[str]:
    """Divide the kills among the cases, each with transactional predictions and without."""
    folder.mkdir()
    faults: list[str] = []
    runs = [(case, transactional) for transactional in (True, False) for case in CASES]
    for i, (case, transactional) in enumerate(runs):
        n_kills = (given.late_kills + i) // len(runs)
        if not n_kills:
            continue
        own = folder / f"late-{i}"
        own.mkdir()
        log = make_log(own.name)
        outcome = kill_late_learners(
            log,
            own,
            case,
            n_kills=n_kills,
            records_per_kill=1_500,
            seed=given.seed + i,
            more=("--transactional" if transactional else "--no-transactional",),
        )
        log.close()
        found = outcome.faults(exactly_once=transactional)
        faults += [f"late labels, {case}: {fault}" for fault in found]
        print(
            f"{type(log).__name__}, late labels, {case}, "
            f"{'transactional' if transactional else 'at least once'}: {n_kills} kills over "
            f"{outcome.n_sent} records, {outcome.n_behind} of them with records still to learn; "
            f"{len(outcome.expected)} events predicted, {outcome.killed.n_labelled} learned, "
            f"{outcome.killed.n_dead_letters} dead letters, expired: "
            f"{outcome.killed.state['pending']['n_expired']}; "
            f"{len(outcome.published) - len(outcome.expected)} repeated predictions; "
            f"{len(found)} faults",
            flush=True,
        )
    return faults


def _label_kills(folder: Path, given: argparse.Namespace) -> list[str]:
    """Divide the kills between transactional predictions and others."""
    faults: list[str] = []
    for transactional in (True, False):
        n_kills = (given.label_kills + transactional) // 2
        if not n_kills:
            continue
        own = folder / f"labels-{transactional}"
        own.mkdir(parents=True)
        outcome = kill_joiners(
            own, n_kills=n_kills, records_per_kill=1_500, seed=given.seed + transactional,
            transactional=transactional,
        )  # fmt: skip
        found = outcome.faults(exactly_once=transactional)
        if 4 * outcome.killed.n_labelled < len(outcome.expected):
            found.append("hardly any label found its event, so the kills say little")
        faults += [f"labels of another log: {fault}" for fault in found]
        print(
            f"Embedded logs of events and labels, "
            f"{'transactional' if transactional else 'at least once'}: {n_kills} kills over "
            f"{outcome.n_sent} records, {outcome.n_behind} of them with records still to learn; "
            f"{len(outcome.expected)} events predicted, {outcome.killed.n_labelled} learned, "
            f"{outcome.killed.n_dead_letters} dead letters; "
            f"{len(outcome.published) - len(outcome.expected)} repeated predictions; "
            f"{len(found)} faults",
            flush=True,
        )
    return faults


def _broker_kills(broker: KafkaBroker, folder: Path, given: argparse.Namespace) -> list[str]:
    folder.mkdir()
    if not given.broker_kills:
        return []
    outcome = kill_brokers(broker, folder, n_kills=given.broker_kills, seed=given.seed)
    seconds = outcome.seconds_to_learn
    print(
        f"{len(seconds)} kills of the broker over {outcome.n_sent} events; learning again after "
        f"{statistics.median(seconds):.2f} s (median), {max(seconds):.2f} s (longest)",
        flush=True,
    )
    late = [f"{each:.1f} s until learning again" for each in seconds if each > 5]
    return outcome.faults() + late


def _garbage(broker: KafkaBroker, folder: Path, given: argparse.Namespace) -> list[str]:
    folder.mkdir()
    if not given.payloads:
        return []
    coped = flood(broker.bootstrap, folder, given.payloads, given.seed)
    print(
        f"{coped.n_sent} payloads: {coped.n_learned} learned, {coped.n_predicted_only} predicted "
        f"only, {coped.n_dead_letters} dead letters, {coped.n_letters_stored} of them stored",
        flush=True,
    )
    whole = coped.n_learned + coped.n_predicted_only + coped.n_dead_letters == coped.n_sent
    stored = coped.n_letters_stored == coped.n_dead_letters
    blamed = [f"{n} letters blame the learner"] if (n := coped.n_blamed_on_the_learner) else []
    return blamed if whole and stored else ["payloads were lost", *blamed]


if __name__ == "__main__":
    sys.exit(main())
