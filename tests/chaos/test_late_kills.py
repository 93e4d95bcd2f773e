"""Kills of a learner that joins late labels, fewer than `python -m chaos` does."""

from pathlib import Path

import pytest
from support.kafka_broker import KafkaBroker

from chaos.late_kills import CASES, kill_late_learners
from chaos.learner_kills import Outcome
from chaos.logs import EmbeddedLog, KafkaLog


def check_plan(outcome: Outcome, case: str) -> None:
    """Check that kills came on the way, and that the stream brought what it should."""
    state = outcome.uninterrupted.state
    expired = state["pending"]["n_expired"]
    assert expired["age"] > 100
    assert expired["count"] > 100 or "--pending-label" in CASES[case].arguments
    assert state["pending"]["n_without_event"] > 10
    assert state["counts"]["n_repeats"] > 10
    assert state["recent_ids"]["n_corrected"] > 10
    assert state["pending"]["store"]["blocks"], "no events were packed"
    assert outcome.n_behind >= 1, "all kills came when there was nothing to lose"


@pytest.mark.parametrize("case", CASES)
def test_late_labels_survive_kills(case: str, tmp_path: Path) -> None:
    """A learner that is killed while events and labels wait for each other publishes, writes to the
    dead letters and remembers what an uninterrupted one does: each prediction once."""
    log = EmbeddedLog(tmp_path / "log.db")
    outcome = kill_late_learners(log, tmp_path, case, n_kills=2, records_per_kill=4_500, seed=3)
    assert outcome.faults(exactly_once=True) == []
    check_plan(outcome, case)


def test_late_labels_survive_kills_on_kafka(broker: KafkaBroker, tmp_path: Path) -> None:
    """The same holds on Kafka without transactions, except that predictions may come twice."""
    log = KafkaLog(broker.bootstrap, "late")
    case = "infinite-layer, count"
    outcome = kill_late_learners(log, tmp_path, case, n_kills=2, records_per_kill=4_500, seed=3)
    log.close()
    assert outcome.faults(exactly_once=False) == []
    check_plan(outcome, case)
