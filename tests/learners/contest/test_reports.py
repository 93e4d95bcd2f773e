"""What a contest reports of its contenders."""

import pytest
from support.contests import fast, linear, run, stream

from iln_stream.learners.contest import ContestRegressor
from iln_stream.reporting import find_metrics, find_reporter

pytestmark = pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")


def test_metrics_are_of_contenders_and_of_the_first_that_reports():
    """Values are those of the standings; the learner's own metrics follow its clone."""
    contest = ContestRegressor(
        {"linear": linear(), "ours": fast(1), "other": fast(2)}, mixture=True
    )
    assert find_reporter(contest) is contest
    specs = {each.name: each for each in find_metrics(contest)}
    run(contest, stream(50))
    contest.promote("other")
    standings = contest.standings()
    assert specs["iln_contender_running_error"].read() == {
        each.name: each.running_error for each in standings
    }
    assert specs["iln_champion"].read() == {"linear": 0, "ours": 0, "other": 1, "mixture": 0}
    assert specs["iln_contender_evidence_lower"].read().keys() == {"linear", "ours", "mixture"}
    assert specs["iln_promotions_total"].read() == {"command": 1, "evidence": 0}
    weights = contest.contenders["ours"].expert_weights
    assert specs["iln_expert_weight"].read() == weights
    assert contest.report(0.0, 1.0)[0] is None
