"""Kills of an appender, fewer than `python -m chaos` does."""

from pathlib import Path

from chaos.appender_kills import kill_appenders


def test_an_answered_append_is_stored_once(tmp_path: Path) -> None:
    """A killed appender loses no record that `append` returned for; if records without an answer
    are appended again with their ids, each is stored once."""
    outcome = kill_appenders(tmp_path / "log.db", n_kills=5, seed=3)
    assert outcome.faults() == []
    assert outcome.n_acknowledged > 50
