"""Learners: each can be made from a seed, and says the same with the same seed."""

import itertools

import pytest

from benchmarks.quality.learners import CLASSIFIERS, CONTENDERS, REGRESSORS, WITH_LAGS
from benchmarks.quality.streams import STREAMS
from benchmarks.quality.unavailable import UnavailableError


def made(contender, seed=1):
    try:
        return contender.make(seed)
    except UnavailableError as reason:
        pytest.skip(str(reason))


def predictions(contender):
    stream = "phishing" if contender.task == "classification" else "chick-weights"
    model, found = made(contender), []
    for t, (x, y) in enumerate(itertools.islice(STREAMS[stream].events(), 60)):
        if t:
            found.append(
                model.predict_proba_one(x)
                if contender.task == "classification"
                else model.predict_one(x)
            )
        model.learn_one(x, y)
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("contender", CONTENDERS.values(), ids=lambda contender: contender.id)
def test_same_seed_same_predictions(contender):
    """A stored result can be had again: no learner draws from the system's entropy."""
    assert predictions(contender) == predictions(contender)


def test_ids_are_unique_and_tasks_are_told():
    """An id is one learner's, and each takes part in one task."""
    assert len(CONTENDERS) == len(REGRESSORS) + len(CLASSIFIERS)
    assert {c.task for c in REGRESSORS} == {"regression"}
    assert {c.task for c in CLASSIFIERS} == {"classification"}


def test_every_variant_with_lags_stands_beside_its_peer():
    """Tables compare a peer with and without lags."""
    lagged = {id_ for id_ in CONTENDERS if id_.endswith("+lags")}
    assert {id_.removesuffix("+lags") for id_ in lagged} == set(WITH_LAGS)
    for id_ in lagged:
        assert CONTENDERS[id_].family == CONTENDERS[id_.removesuffix("+lags")].family
