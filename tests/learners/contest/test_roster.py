"""Who takes part, who is champion, and what becomes of a challenger that fails."""

import numpy as np
import pytest
from river import dummy, linear_model, stats
from support.contests import Faulty, fast, linear, regressors, run, stream

from iln_stream.errors import ContenderError, IlnWarning, NotFiniteError
from iln_stream.learners.contest import ContestRegressor
from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.snapshots import learner_state

pytestmark = pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")


def test_too_many_failures_put_a_challenger_out_until_a_promotion():
    """It is not asked any more; after a promotion a clone that learned nothing takes part. Its
    first failure is told once, and that it is out."""
    contest = ContestRegressor(
        {"a": dummy.StatisticRegressor(stats.Mean()), "b": Faulty(nan=range(9_999))}
    )
    with pytest.warns(IlnWarning) as told:
        run(contest, stream(99))
        assert contest.standings()[1].status == "challenger"
        run(contest, stream(51))
    assert [str(each.message) for each in told] == [
        "challenger b failed: ArithmeticError: it predicted nan",
        "challenger b failed 100 times in a row, and is out: ArithmeticError: it predicted nan",
    ]
    standing = contest.standings()[1]
    assert (standing.status, standing.n_failures, standing.n_scored) == ("out", 100, 0)
    assert standing.last_failure == "ArithmeticError: it predicted nan"
    with pytest.raises(ValueError, match="b is out of the contest after 100 failures"):
        contest.promote("b")
    contest.add("c", linear())
    contest.promote("c")
    assert contest.standings()[1].status == "challenger"
    assert contest.contenders["b"].n == 0


def test_restart_begins_with_a_clone():
    """A challenger with the policy restart goes on as one that has learned nothing."""
    contest = ContestRegressor(
        {"a": fast(1), "b": Faulty(learns=[10])}, on_failure={"b": "restart"}
    )
    run(contest, stream(15))
    assert contest.contenders["b"].n == 4
    assert contest.standings()[1].n_failures == 1


def test_a_challenger_whose_numbers_are_lost_begins_anew():
    """It would never predict again, and no snapshot could be taken while it takes part."""
    contest = ContestRegressor(
        {"a": fast(1), "b": ShrinkingGradient(estimator="pool", seed=1), "c": linear()}
    )
    run(contest, stream(20))
    lost = contest.contenders["b"]
    lost._f._theta[:] = np.nan
    with pytest.raises(NotFiniteError):
        learner_state(contest, allow_pickle=True)
    run(contest, stream(1))
    assert contest.standings()[1].n_failures == 1
    assert contest.contenders["b"] is not lost
    learner_state(contest, allow_pickle=True)


def test_stop_raises():
    """The policy stop raises an error that names challenger, reason and remedy."""
    contest = ContestRegressor({"a": fast(1), "b": Faulty(learns=[3])}, on_failure="stop")
    with pytest.raises(ContenderError, match="challenger b failed"):
        run(contest, stream(5))


def test_error_probability_is_shared():
    """Each comparison gets its part of the error probability, less after every promotion."""
    contest = regressors(mixture=True)
    shares = [each.evidence.error for each in contest._contenders if each.evidence is not None]
    assert shares == pytest.approx([0.05 * 6 / np.pi**2 / 3] * 3)
    contest.promote("linear")
    shares = [each.evidence.error for each in contest._contenders if each.evidence is not None]
    assert shares == pytest.approx([0.05 * 6 / np.pi**2 / 4 / 3] * 3)


def test_the_old_champion_can_come_back():
    """Promoted away and back, it predicts as if it had been champion all the time."""
    contest, alone = regressors(), fast(1)
    events = list(stream(60))
    run(contest, events[:20])
    contest.promote("linear")
    linear_predictions = run(contest, events[20:40])
    contest.promote("ours")
    expected = run(alone, events)
    assert run(contest, events[40:]) == expected[40:]
    assert linear_predictions != expected[20:40]
    assert contest.n_promotions["command"] == 2


def test_to_promote_the_champion_changes_nothing():
    """A command that comes twice counts once."""
    contest = regressors()
    run(contest, stream(40))
    before = contest.standings()
    contest.promote("ours")
    assert contest.standings() == before
    with pytest.raises(ValueError, match="'x' takes no part: the contenders are ours, other"):
        contest.promote("x")


LINEAR = linear_model.LinearRegression()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({"a": LINEAR, "b": linear_model.LogisticRegression()},), "b is a classifier"),
        (({"a": LINEAR, "b": LINEAR},), "one learner twice"),
        (({},), "contenders is empty"),
        (([fast(1)],), "contenders must be a mapping of learners by name.*not a list"),
        (({"a": 3},), r"contenders\['a'\] = 3 is no learner"),
        (({"": fast(1)},), "is named ''"),
        (({"mixture": fast(1)},), "is the name of the mixture"),
        (({"a": fast(1)}, "always"), "promotion = 'always' must be"),
        (({"a": fast(1)}, "never", 0.0), "promotion_error = 0.0 must be"),
        (({"a": fast(1)}, "never", 0.05, False, "ignore"), "on_failure of a = 'ignore'"),
        (({"a": fast(1)}, "never", 0.05, False, {"b": "skip"}), "on_failure names b"),
        (({"a": fast(1)}, "never", 0.05, False, "skip", 0), "window = 0 must be"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    """Each error names the argument and what it may be."""
    with pytest.raises(ValueError, match=message):
        ContestRegressor(*arguments)


def test_who_can_be_removed():
    """The champion and the mixture stay; a challenger goes with its weight in the mixture."""
    contest = regressors(mixture=True)
    run(contest, stream(50))
    with pytest.raises(ValueError, match="ours is the champion: promote another"):
        contest.remove("ours")
    with pytest.raises(ValueError, match="mixture can't be removed"):
        contest.remove("mixture")
    contest.promote("mixture")
    contest.remove("other")
    contest.add("new", fast(5))
    assert contest.champion == "mixture"
    assert list(contest.mixture_weights) == ["ours", "linear", "new"]
    run(contest, stream(50))
    assert [each.n_scored for each in contest.standings()] == [100, 100, 50, 100]
