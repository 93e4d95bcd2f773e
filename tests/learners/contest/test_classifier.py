"""A contest of classifiers is a River estimator, whatever classes its learners know."""

import pytest
from river import checks, linear_model

from iln_stream.learners.contest import ContestClassifier
from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier

pytestmark = pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")


def test_a_two_class_learner_fails_on_other_classes():
    """Labels follow the first contender; a challenger that can't learn them is counted."""
    contest = ContestClassifier(
        {"ours": InfiniteLayerClassifier(seed=1), "logistic": linear_model.LogisticRegression()}
    )
    assert contest._multiclass
    for t in range(20):
        contest.learn_one({"a": t % 2}, "even" if t % 2 == 0 else "odd")
    standing = contest.standings()[1]
    assert (standing.n_failures, standing.n_scored) == (20, 0)
    assert "it knows two classes" in standing.last_failure
    contest.learn_one({"a": 1.0}, 1)
    assert contest.standings()[1].n_scored == 1


@pytest.mark.parametrize(
    ("model", "check"),
    [
        pytest.param(model, check, id=f"{check.__name__}-{n}")
        for model in (ContestClassifier(**p) for p in ContestClassifier._unit_test_params())
        for n, check in enumerate(checks.yield_checks(model))
    ],
)
def test_rivers_checks(model, check):
    """A contest works wherever a River estimator does."""
    check(model.clone())
