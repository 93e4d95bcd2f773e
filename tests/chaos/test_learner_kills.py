"""Kills of the learner and of an appender, fewer than `python -m chaos` does."""

from collections.abc import Callable
from pathlib import Path

import pytest

from chaos.appender_kills import kill_appenders
from chaos.learner_kills import IN_A_ROW, Plan, kill_learners
from chaos.load import load
from chaos.logs import TestedLog
from chaos.order_kills import N_PARTITIONS, kill_in_one_order
from chaos.worker_kills import kill_workers


@pytest.mark.parametrize(
    ("kind", "way", "learner"),
    [
        ("embedded", "transactional", IN_A_ROW),
        pytest.param("embedded", "transactional", (), marks=pytest.mark.thorough),
        pytest.param("kafka", "transactional", IN_A_ROW, marks=pytest.mark.thorough),
        pytest.param("embedded", "no-transactional", (), marks=pytest.mark.thorough),
        pytest.param("kafka", "no-transactional", (), marks=pytest.mark.thorough),
    ],
)
def test_killed_as_never_killed(
    make_log: Callable[..., TestedLog],
    tmp_path: Path,
    kind: str,
    way: str,
    learner: tuple[str, ...],
) -> None:
    """A learner killed at random moments ends identical to an uninterrupted one. It publishes each
    prediction: in transactions once, else some twice, but always with the same value."""
    log = make_log(kind)
    outcome = kill_learners(log, tmp_path, Plan(2, 1_500, 1, (f"--{way}",)), learner)
    assert outcome.faults(exactly_once=way == "transactional") == []
    assert outcome.n_at_work >= 1, "all kills came when there was nothing to lose"


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["embedded", "kafka"])
@pytest.mark.parametrize("way", ["transactional", "no-transactional"])
def test_one_order_survives_kills(
    make_log: Callable[..., TestedLog], tmp_path: Path, kind: str, way: str
) -> None:
    """However often it is killed, a learner over three partitions has learned in one order, that of
    its predictions, and publishes no prediction with two values."""
    log = make_log(kind, N_PARTITIONS)
    outcome = kill_in_one_order(log, tmp_path, Plan(2, 1_500, 2, (f"--{way}",)))
    assert outcome.faults(exactly_once=way == "transactional") == []
    assert outcome.n_at_work >= 1, "all kills came when there was nothing to lose"


@pytest.mark.thorough
def test_killed_workers_end_as_one_process(
    make_log: Callable[..., TestedLog], tmp_path: Path
) -> None:
    """Workers that are killed, and whose supervisor is killed, leave learners and predictions that
    are those of one process without kills."""
    log = make_log("embedded", N_PARTITIONS)
    outcome = kill_workers(log, tmp_path, Plan(4, 300, 4, ("--transactional",)))
    assert outcome.faults(exactly_once=True) == []
    assert outcome.n_at_work >= 1, "all kills came when there was nothing to lose"


def test_an_answered_append_is_stored_once(tmp_path: Path) -> None:
    """A killed appender loses no record that `append` returned for; if records without an answer
    are appended again with their ids, each is stored once."""
    outcome = kill_appenders(tmp_path / "log.db", n_kills=3, seed=3)
    assert outcome.faults() == []
    assert outcome.n_acknowledged > 30


@pytest.mark.thorough
def test_under_load(tmp_path: Path) -> None:
    """While events are posted at a rate and learner and API end again and again, each acknowledged
    event is stored, learned and predicted once, and each request is answered."""
    outcome = load(tmp_path, minutes=0.7, seed=1)
    assert outcome.faults() == []
    assert outcome.n_predictions > 0
    assert all(outcome.megabytes.values()), "no process was ended"
