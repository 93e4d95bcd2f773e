"""Kills of models that remember more than a learner, fewer than `python -m chaos` does.

Kafka has short forms of its own in test_learner_kills.py; the kinds of models differ in their
states, not in their logs.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from chaos.contest_kills import kill_contests
from chaos.forecast_kills import SERIES, kill_forecasters
from chaos.keyed_kills import LIVE, kill_keyed_learners
from chaos.late_kills import CASES, kill_late_learners
from chaos.learner_kills import Plan
from chaos.logs import TestedLog
from chaos.order_kills import N_PARTITIONS, kill_joiners
from chaos.version_kills import kill_publishers

MakeLog = Callable[..., TestedLog]
LOGS = ["embedded", "kafka"]
ONCE = ("--transactional",)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", LOGS)
def test_promotions_survive_kills(make_log: MakeLog, tmp_path: Path, kind: str) -> None:
    """A contest that is killed at random moments ends identical to an uninterrupted one, and
    publishes each prediction once, of the same contender."""
    outcome = kill_contests(make_log(kind), tmp_path, Plan(2, 3_600, 5, ONCE))
    assert outcome.faults(exactly_once=True) == []
    learner = outcome.uninterrupted.state["learner"]
    assert learner["promotions"]["command"] > 5
    assert learner["promotions"]["evidence"] > 0
    assert max(each["n_failures"] for each in learner["contenders"]) > 0
    assert outcome.n_at_work >= 1, "all kills came when there was nothing to lose"


@pytest.mark.thorough
@pytest.mark.parametrize("series", [(), SERIES])
@pytest.mark.parametrize("kind", LOGS)
def test_forecasts_survive_kills(
    make_log: MakeLog, tmp_path: Path, kind: str, series: tuple[str, ...]
) -> None:
    """Forecasters of one series, or of three among other records, killed at random, end like
    uninterrupted ones, with the same values waiting; each forecast is published once."""
    outcome = kill_forecasters(make_log(kind), tmp_path, Plan(2, 800, 1, ONCE), series)
    assert outcome.faults(exactly_once=True) == []


@pytest.mark.thorough
def test_versions_survive_kills(make_log: MakeLog, tmp_path: Path) -> None:
    """A learner that publishes, killed at random moments, keeps whole versions in order, and a
    pinned one stays what it was: its records alone make the same learner."""
    found = kill_publishers(make_log("embedded"), tmp_path, Plan(3, 1_500, 1))
    assert found.faults(exactly_once=True) == []


@pytest.mark.thorough
@pytest.mark.parametrize("kind", LOGS)
def test_keys_survive_kills(make_log: MakeLog, tmp_path: Path, kind: str) -> None:
    """Killed at random moments, with few of its keys in memory, it ends with the same state of each
    key as a run that was never killed and had all in memory: it learned nothing twice."""
    found = kill_keyed_learners(make_log(kind), tmp_path, Plan(2, 2_000, 1, ONCE))
    assert found.faults(exactly_once=True) == []
    assert found.outcome.n_at_work == 2, "a kill came before anything was learned, or after all was"
    assert len(found.uninterrupted) > 10 * LIVE


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kind", "case"), [*(("embedded", case) for case in CASES), ("kafka", "infinite-layer, count")]
)
def test_late_labels_survive_kills(make_log: MakeLog, tmp_path: Path, kind: str, case: str) -> None:
    """A learner that is killed while events and labels wait for each other publishes, writes to the
    dead letters and remembers what an uninterrupted one does: each prediction once."""
    outcome = kill_late_learners(make_log(kind), tmp_path, Plan(2, 4_500, 3, ONCE), case)
    assert outcome.faults(exactly_once=True) == []
    state = outcome.uninterrupted.state
    expired = state["pending"]["n_expired"]
    assert expired["age"] > 100
    assert expired["count"] > 100 or "--pending-label" in CASES[case].arguments
    assert state["pending"]["n_without_event"] > 10
    assert state["counts"]["n_repeats"] > 10
    assert state["recent_ids"]["n_corrected"] > 10
    assert state["pending"]["store"]["blocks"], "no events were packed"
    assert outcome.n_at_work >= 1, "all kills came when there was nothing to lose"


@pytest.mark.thorough
@pytest.mark.parametrize("way", ["no-transactional", "transactional"])
def test_two_logs_survive_kills(make_log: MakeLog, tmp_path: Path, way: str) -> None:
    """After kills of a learner of events and labels from logs of several partitions each, its state
    is that of the order in which it published first, which an uninterrupted run repeats."""
    log = make_log("embedded", N_PARTITIONS)
    outcome = kill_joiners(log, tmp_path, Plan(2, 1_500, 4, (f"--{way}",)))
    assert outcome.faults(exactly_once=way == "transactional") == []
    assert outcome.n_at_work >= 1, "all kills came when there was nothing to lose"
    assert 4 * outcome.killed.n_labelled > len(outcome.expected), "hardly any label found its event"
