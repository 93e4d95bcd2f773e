"""Kills of the broker, fewer than `python -m chaos` does."""

from pathlib import Path

from support.kafka_broker import KafkaBroker

from chaos.broker_kills import kill_brokers


def test_broker_killed_under_load(stoppable: KafkaBroker, tmp_path: Path) -> None:
    """A learner whose broker is killed reports the outage, waits, and resumes by itself: nothing is
    lost, learned twice or published twice."""
    outcome = kill_brokers(stoppable, tmp_path, n_kills=2, seed=1)
    assert outcome.faults() == []
    assert outcome.n_not_ready == 2
