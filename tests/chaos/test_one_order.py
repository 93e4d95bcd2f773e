"""Kills of a learner over several partitions, fewer than `python -m chaos` does."""

from pathlib import Path

from support.kafka_broker import KafkaBroker

from chaos.logs import EmbeddedLog, KafkaLog
from chaos.one_order import kill_learners


def test_one_order_survives_kills(broker: KafkaBroker, tmp_path: Path) -> None:
    """However often it is killed, a learner over three partitions has learned in one order, that of
    its predictions, and publishes each prediction once."""
    log = KafkaLog(broker.bootstrap, "order", partitions=3)
    more = ("--transactional",)
    outcome = kill_learners(log, tmp_path, n_kills=3, events_per_kill=2_000, seed=2, more=more)
    log.close()
    assert outcome.faults(exactly_once=True) == []
    assert outcome.n_behind >= 1, "all kills came when there was nothing to lose"


def test_one_order_survives_kills_on_an_embedded_log(tmp_path: Path) -> None:
    """Without transactions, too: no prediction is published with two values."""
    log = EmbeddedLog(tmp_path / "log.db", partitions=3)
    more = ("--no-transactional",)
    outcome = kill_learners(log, tmp_path, n_kills=3, events_per_kill=2_000, seed=2, more=more)
    assert outcome.faults(exactly_once=False) == []
    assert outcome.n_behind >= 1, "all kills came when there was nothing to lose"
