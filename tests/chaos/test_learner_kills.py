"""Kills of the learner, fewer than `python -m chaos` does."""

from pathlib import Path

from support.kafka_broker import KafkaBroker

from chaos.learner_kills import kill_learners


def test_killed_ten_times_as_never_killed(broker: KafkaBroker, tmp_path: Path) -> None:
    """A learner killed at random moments ends bit for bit as one that was left alone, and
    publishes each prediction, some twice but never with another value."""
    outcome = kill_learners(broker.bootstrap, tmp_path, n_kills=10, events_per_kill=1_500, seed=1)
    assert outcome.faults(exactly_once=False) == []
    assert outcome.n_behind >= 5, "most kills came when there was nothing to lose"
