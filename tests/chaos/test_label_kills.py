"""Kills of a learner that joins two logs, fewer than `python -m chaos` does."""

from pathlib import Path

from chaos.label_kills import kill_joiners


def test_labels_of_another_log_survive_kills(tmp_path: Path) -> None:
    """A learner that is killed while it reads events and labels from two logs, of several
    partitions each, publishes, writes to the dead letters and remembers what a run does that
    learns the same order without kills: each prediction once."""
    outcome = kill_joiners(tmp_path, n_kills=3, records_per_kill=1_500, seed=4, transactional=True)
    assert outcome.faults(exactly_once=True) == []
    state = outcome.uninterrupted.state
    assert outcome.killed.n_labelled > 500
    assert sum(state["pending"]["n_expired"].values()) > 50
    assert state["counts"]["n_repeats"] > 5
    assert outcome.n_behind >= 2, "most kills came when there was nothing to lose"
