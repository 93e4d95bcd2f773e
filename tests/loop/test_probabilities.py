"""Measures of predicted probabilities, beside scikit-learn's."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from iln_stream.loop.scores import (
    average_precision,
    brier_score,
    by_class,
    calibration_error,
    roc_auc,
)

ranked = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]), st.booleans()), min_size=2
).filter(lambda pairs: len({label for _, label in pairs}) == 2)


@given(ranked)
def test_rankings_of_two_classes(pairs):
    """ROC AUC, average precision and Brier score are scikit-learn's, ties included."""
    scores, labels = zip(*pairs, strict=True)
    answers = [{True: p, False: 1 - p} for p in scores]
    assert roc_auc(scores, labels) == pytest.approx(metrics.roc_auc_score(labels, scores))
    expected = metrics.average_precision_score(labels, scores)
    assert average_precision(scores, labels) == pytest.approx(expected)
    expected = metrics.brier_score_loss(labels, scores)
    assert brier_score(answers, labels) == pytest.approx(expected)


def test_more_classes_are_averaged():
    """With three classes, each is ranked against the others, and the mean is taken."""
    rng = np.random.default_rng(1)
    P = rng.dirichlet(np.ones(3), 200)
    y = [int(rng.choice(3, p=p)) for p in P]
    answers = [dict(enumerate(p)) for p in P.tolist()]
    expected = metrics.roc_auc_score(y, P, multi_class="ovr")
    assert by_class(roc_auc, answers, y) == pytest.approx(expected)


def test_the_rarer_class_is_ranked():
    """Of two classes the rarer one counts: for average precision it makes a difference."""
    answers = [{"fraud": 0.9}, {"fraud": 0.2}, {"fraud": 0.1}, {"fraud": 0.3}]
    labels = ["fraud", "fine", "fine", "fine"]
    assert by_class(average_precision, answers, labels) == 1.0


def test_calibration():
    """True confidences have a small error, overconfident ones a large one."""
    rng = np.random.default_rng(1)
    p = rng.uniform(size=20_000)
    labels = (rng.uniform(size=p.size) < p).tolist()
    honest = [{True: q, False: 1 - q} for q in p.tolist()]
    boastful = [{True: float(q > 0.5), False: float(q <= 0.5)} for q in p.tolist()]
    assert calibration_error(honest, labels) < 0.015
    assert calibration_error(boastful, labels) == pytest.approx(0.25, abs=0.02)


def test_nothing_to_measure():
    """Without events, or with one class, there is no value rather than a wrong one."""
    assert math.isnan(brier_score([], []))
    assert math.isnan(calibration_error([], []))
    assert math.isnan(by_class(roc_auc, [{"a": 1.0}], ["a"]))
    assert brier_score([{}], ["a"]) == 0.5
    assert calibration_error([{}], ["a"]) == 0.0
