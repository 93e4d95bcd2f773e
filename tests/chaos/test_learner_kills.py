"""Kills of the learner, fewer than `python -m chaos` does."""

from pathlib import Path

import pytest
from support.kafka_broker import KafkaBroker

from chaos.learner_kills import kill_learners
from chaos.logs import EmbeddedLog, KafkaLog


@pytest.mark.parametrize("transactional", [False, True])
def test_killed_as_never_killed(broker: KafkaBroker, tmp_path: Path, transactional: bool) -> None:
    """A learner killed at random moments ends identical to an uninterrupted one. It publishes each
    prediction: in transactions once, else some twice, but always with the same value."""
    more = ("--transactional",) if transactional else ()
    log = KafkaLog(broker.bootstrap, "kills")
    outcome = kill_learners(log, tmp_path, n_kills=3, events_per_kill=2_000, seed=1, more=more)
    log.close()
    assert outcome.faults(exactly_once=transactional) == []
    assert outcome.n_behind >= 1, "all kills came when there was nothing to lose"


@pytest.mark.parametrize("transactional", [False, True])
def test_killed_as_never_killed_on_an_embedded_log(tmp_path: Path, transactional: bool) -> None:
    """The same holds for an embedded log, where transactions are what a run does by itself."""
    more = () if transactional else ("--no-transactional",)
    log = EmbeddedLog(tmp_path / "log.db")
    outcome = kill_learners(log, tmp_path, n_kills=3, events_per_kill=2_000, seed=1, more=more)
    assert outcome.faults(exactly_once=transactional) == []
    assert outcome.n_behind >= 1, "all kills came when there was nothing to lose"
