from threading import Event, Thread

import pytest

from iln_stream.learners import InfiniteLayerRegressor
from iln_stream.learners.metrics import (
    MOST_INPUTS,
    hashing_metrics,
    mixture_metrics,
    most_relevant,
    seldom,
)


def test_only_the_most_relevant_inputs_are_exported():
    """At most 20 inputs make a series, the largest shares in falling order, read when asked."""
    shares = {f"x{j}": (j * 7919 % 101) / 101 for j in range(100)}
    read = most_relevant(lambda: shares)
    expected = sorted(shares.values(), reverse=True)[:MOST_INPUTS]
    assert list(read().values()) == expected
    shares["late"] = 2.0
    assert next(iter(read())) == "late"


@pytest.mark.parametrize(("profile", "has_algorithm_1"), [("accurate", True), ("fast", False)])
def test_a_mixture_reports_algorithm_1_if_it_is_an_expert(profile, has_algorithm_1):
    """`fast` has no first-order expert, and its metrics lack those of Algorithm 1."""
    learner = InfiniteLayerRegressor(profile, seed=1)
    names = [metric.name for metric in mixture_metrics(learner)]
    assert len(names) == len(set(names))
    assert ("iln_alpha_l1" in names) == has_algorithm_1
    assert [flag.metric for flag in learner.flags] == ["iln_shrink_frequency"] * has_algorithm_1


def test_metrics_follow_a_restored_learner():
    """`restore` builds a new engine, and the metrics that were exported before read that one."""
    events = [({"a": a % 7.0}, a % 5.0) for a in range(40)]
    taught, learner = InfiniteLayerRegressor(seed=1), InfiniteLayerRegressor(seed=1)
    for x, y in events:
        taught.learn_one(x, y)
    exported = mixture_metrics(learner)
    learner.restore(taught.state())
    found = {metric.name: metric.read() for metric in exported}
    assert found == {metric.name: metric.read() for metric in mixture_metrics(taught)}
    assert found["iln_alpha_l1"] > 0.0


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
def test_hashed_categories_are_counted():
    """The field of 40 categories is hashed as a whole, each name to a cell."""
    learner = InfiniteLayerRegressor("fast", seed=1)
    for k in range(40):
        learner.learn_one({f"id={k}": 1.0}, 1.0 + k)
    found = {metric.name: metric.read() for metric in hashing_metrics(learner)}
    assert found["iln_hashed_names"] == pytest.approx(40, rel=0.1)
    assert found["iln_hashed_cells_occupied_ratio"] == pytest.approx(40 / 65_536, rel=0.05)


def test_scrapes_do_not_wait_for_what_another_computes():
    """While one thread reads what takes long, others get the last value, and none reads it, too."""
    begun, go_on, n_read = Event(), Event(), []

    def slow():
        n_read.append(1)
        begun.set()
        go_on.wait(60.0)
        return {"a": 1.0}

    read = seldom(slow)
    first = Thread(target=read, daemon=True)
    first.start()
    assert begun.wait(60.0)
    assert (read(), len(n_read)) == ({}, 1)
    go_on.set()
    first.join(60.0)
    assert (read(), len(n_read)) == ({"a": 1.0}, 1)
