"""The mixture of all contenders is a contender."""

import pytest
from support.contests import CONTESTS, run, stream

pytestmark = pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")


@pytest.mark.parametrize("task", CONTESTS)
def test_the_mixture_is_a_contender(task):
    """As champion it predicts the weighted mean, which is no worse than the worst contender."""
    contest = CONTESTS[task](mixture=True)
    contest.promote("mixture")
    events = list(stream(300, classes=task == "classifiers"))
    run(contest, events)
    *others, mixture = contest.standings()
    assert mixture.is_champion
    assert mixture.running_loss < max(each.running_loss for each in others)
    weights = contest.mixture_weights
    assert sum(weights.values()) == pytest.approx(1.0)
    x = events[-1][0]
    if task == "regressors":
        own = {name: each.predict_one(x) for name, each in contest.contenders.items()}
        assert contest.predict_one(x) == pytest.approx(sum(weights[k] * own[k] for k in own))
    else:
        assert sum(contest.predict_proba_one(x).values()) == pytest.approx(1.0)
