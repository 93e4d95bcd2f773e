"""Kills of a learner over several partitions, fewer than `python -m chaos` does."""

from pathlib import Path

import pytest
from support.kafka_broker import KafkaBroker

from chaos.logs import EmbeddedLog, KafkaLog
from chaos.one_order import kill_learners


@pytest.mark.parametrize("transactional", [False, True])
def test_one_order_survives_kills(broker: KafkaBroker, tmp_path: Path, transactional: bool) -> None:
    """However often it is killed, a learner over three partitions has learned in one order, that of
    its predictions, and publishes no prediction with two values."""
    more = ("--transactional",) if transactional else ()
    log = KafkaLog(broker.bootstrap, "order", partitions=3)
    outcome = kill_learners(log, tmp_path, n_kills=3, events_per_kill=2_000, seed=2, more=more)
    log.close()
    assert outcome.faults(exactly_once=transactional) == []
    assert outcome.n_behind >= 1, "all kills came when there was nothing to lose"


@pytest.mark.parametrize("transactional", [False, True])
def test_one_order_survives_kills_on_an_embedded_log(tmp_path: Path, transactional: bool) -> None:
    """The same holds for an embedded log, where transactions are what a run does by itself."""
    more = () if transactional else ("--no-transactional",)
    log = EmbeddedLog(tmp_path / "log.db", partitions=3)
    outcome = kill_learners(log, tmp_path, n_kills=3, events_per_kill=2_000, seed=2, more=more)
    assert outcome.faults(exactly_once=transactional) == []
    assert outcome.n_behind >= 1, "all kills came when there was nothing to lose"
