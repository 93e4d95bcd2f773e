"""Kills of a service with a model for each key, fewer than `python -m chaos` does."""

from pathlib import Path

import pytest
from support.kafka_broker import KafkaBroker

from chaos.keyed_kills import LIVE, kill_keyed_learners
from chaos.logs import EmbeddedLog, KafkaLog


@pytest.mark.parametrize("transactional", [False, True])
def test_keys_survive_kills(tmp_path: Path, transactional: bool) -> None:
    """Killed at random moments, with few of its keys in memory, it ends with the same state of each
    key as a run that was never killed and had all in memory: it learned nothing twice."""
    log = EmbeddedLog(tmp_path / "log.db")
    more = () if transactional else ("--no-transactional",)
    found = kill_keyed_learners(log, tmp_path, n_kills=3, events_per_kill=2_500, seed=1, more=more)
    assert found.faults(exactly_once=transactional) == []
    assert found.outcome.n_behind == 3, "a kill came before anything was learned, or after all was"
    assert len(found.uninterrupted) > 10 * LIVE


def test_keys_survive_kills_on_kafka(broker: KafkaBroker, tmp_path: Path) -> None:
    """The same holds on Kafka, with transactions."""
    log = KafkaLog(broker.bootstrap, "keyed")
    more = ("--transactional",)
    found = kill_keyed_learners(log, tmp_path, n_kills=2, events_per_kill=3_000, seed=2, more=more)
    log.close()
    assert found.faults(exactly_once=True) == []
    assert len(found.uninterrupted) > 10 * LIVE
