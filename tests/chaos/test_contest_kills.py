"""Kills of a contest of learners, fewer than `python -m chaos` does."""

from pathlib import Path

from support.kafka_broker import KafkaBroker

from chaos.contest_kills import kill_contests
from chaos.learner_kills import Outcome
from chaos.logs import EmbeddedLog, KafkaLog


def check_plan(outcome: Outcome) -> None:
    """Check that contenders were promoted in both ways and failed, and kills came on the way."""
    promotions = outcome.uninterrupted.state["learner"]["promotions"]
    assert promotions["command"] > 5
    assert promotions["evidence"] > 0
    failures = [each["n_failures"] for each in outcome.uninterrupted.state["learner"]["contenders"]]
    assert max(failures) > 0
    assert outcome.n_behind >= 1, "all kills came when there was nothing to lose"


def test_promotions_survive_kills(tmp_path: Path) -> None:
    """A contest that is killed at random moments ends identical to an uninterrupted one, and
    publishes each prediction once, of the same contender."""
    log = EmbeddedLog(tmp_path / "log.db")
    outcome = kill_contests(log, tmp_path, n_kills=2, records_per_kill=3_000, seed=5)
    assert outcome.faults(exactly_once=True) == []
    check_plan(outcome)


def test_promotions_survive_kills_on_kafka(broker: KafkaBroker, tmp_path: Path) -> None:
    """The same holds on Kafka, with transactions."""
    log = KafkaLog(broker.bootstrap, "contest")
    more = ("--transactional",)
    outcome = kill_contests(log, tmp_path, n_kills=2, records_per_kill=3_000, seed=6, more=more)
    log.close()
    assert outcome.faults(exactly_once=True) == []
    check_plan(outcome)
