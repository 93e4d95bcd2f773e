"""Kills of the broker and floods of garbage, smaller than `python -m chaos` does."""

from pathlib import Path

import pytest
from support.kafka_broker import KafkaBroker

from chaos.broker_kills import kill_brokers
from chaos.garbage import flood


@pytest.mark.thorough
def test_broker_killed_under_load(stoppable: KafkaBroker, tmp_path: Path) -> None:
    """A learner whose broker is killed reports the outage, waits, and resumes by itself: nothing is
    lost, learned twice or published twice."""
    outcome = kill_brokers(stoppable, tmp_path, n_kills=1, seed=1)
    assert outcome.faults() == []


def test_every_payload_ends_somewhere(broker: KafkaBroker, tmp_path: Path) -> None:
    """Each record is learned, only predicted, or a dead letter with its reason; nothing is lost and
    nothing crashes, however malformed the records and their times are."""
    coped = flood(broker.bootstrap, tmp_path, 5_000, seed=1)
    assert coped.faults() == []
    assert min(coped.n_learned, coped.n_predicted_only, coped.n_dead_letters) > 250
