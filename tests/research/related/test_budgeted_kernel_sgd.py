"""Budgeted kernel SGD, against the one without a budget."""

import numpy as np
import pytest
from support.two_classes import as_dict, blobs, events, learn_all

from iln_stream.research.related import BudgetedKernelSGD, KernelPegasos

STRATEGIES = ("removal", "projection", "merging")


@pytest.mark.parametrize("maintenance", STRATEGIES)
def test_without_pressure_it_is_pegasos(maintenance):
    """A budget that is never reached changes nothing."""
    X, y = blobs(200)
    model = learn_all(BudgetedKernelSGD(0.01, 0.5, 200, maintenance), X, y)
    free = learn_all(KernelPegasos(0.01, 0.5), X, y)
    xs = list(map(as_dict, X))
    np.testing.assert_array_equal(model.decision_many(xs), free.decision_many(xs))
    assert model.degradation == 0.0


@pytest.mark.parametrize("maintenance", STRATEGIES)
def test_budget_holds(maintenance):
    """There are never more than B support vectors, and what the budget costs is reported."""
    X, y = blobs(300)
    model = BudgetedKernelSGD(0.01, 0.5, 15, maintenance)
    for x, label in events(X, y):
        model.learn_one(x, label)
        assert model.n_support <= 15
    assert model.degradation > 0.0


def test_careful_strategies_degrade_less():
    """As in the source, projection and merging cost less than removal, and with them 30
    support vectors keep within 5 points of the accuracy of about 300."""
    X, y = blobs(1500)
    Z, labels = blobs(1500, seed=1)
    xs = list(map(as_dict, Z))
    free = learn_all(KernelPegasos(0.005, 0.5), X, y)
    models = {m: learn_all(BudgetedKernelSGD(0.005, 0.5, 30, m), X, y) for m in STRATEGIES}
    cost = {m: model.degradation for m, model in models.items()}
    assert max(cost["projection"], cost["merging"]) < cost["removal"]
    accuracy = np.mean(np.sign(free.decision_many(xs)) == labels)
    for careful in ("projection", "merging"):
        assert np.mean(np.sign(models[careful].decision_many(xs)) == labels) > accuracy - 0.05


def test_unknown_strategy():
    """The error about a strategy lists those that exist."""
    with pytest.raises(ValueError, match="must be one of removal, projection, merging"):
        BudgetedKernelSGD(maintenance="shrinking")
