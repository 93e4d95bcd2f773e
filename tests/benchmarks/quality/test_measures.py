"""Measures: the figures are what they say."""

import math
import random

import numpy as np
import pytest
from river import base, dummy, stats
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks.quality.measures import Clock, classification, intervals, regression
from benchmarks.quality.measures.classification import (
    LEAST_PROBABILITY,
    by_class,
    calibration_error,
    pr_auc,
    roc_auc,
)
from benchmarks.quality.measures.intervals import RollingQuantile
from benchmarks.quality.measures.regression import ExplodedError


class Scripted(base.Regressor, base.Classifier):
    """Predicts what the event's input "says", with an interval of +-1 around it."""

    def __init__(self):
        self.learned = []

    def learn_one(self, x, y):
        self.learned.append(y)

    def predict_one(self, x):
        return x["says"]

    def predict_proba_one(self, x):
        return x["says"]

    def predict_interval(self, x, level):
        return x["says"] - 1, x["says"] + 1


def events(*pairs):
    return [({"says": says}, y) for says, y in pairs]


def test_running_mean_has_ratio_one():
    """The ratio's denominator is River's own running mean on the same events."""
    draws = random.Random(3)
    stream = [({"a": 1.0}, draws.gauss(5, 2)) for _ in range(300)]
    figures = regression(dummy.StatisticRegressor(stats.Mean()), stream)
    assert figures["ratio"] == figures["rmse_ratio"] == 1.0


def test_first_event_is_only_learned():
    """Nobody is scored before the first target, and everybody has seen it."""
    model = Scripted()
    figures = regression(model, events((1e9, 4.0), (4.0, 5.0), (5.0, 7.0)))
    # |4 - 5| and |5 - 7|; the running mean's are |4 - 5| and |4.5 - 7|.
    assert figures["mae"] == 1.5
    assert figures["ratio"] == float(f"{3 / 3.5:.5g}")
    # Squares 1 and 4; the running mean's 1 and 6.25.
    assert figures["rmse"] == float(f"{math.sqrt(5 / 2):.5g}")
    assert figures["rmse_ratio"] == float(f"{math.sqrt(5 / 7.25):.5g}")
    assert model.learned == [4.0, 5.0, 7.0]


@pytest.mark.parametrize("says", [math.nan, math.inf, None])
def test_no_finite_number_is_an_explosion(says):
    """A learner can't hide a prediction that is none in a mean."""
    with pytest.raises(ExplodedError, match="at event 3"):
        regression(Scripted(), events((0.0, 1.0), (0.0, 1.0), (says, 1.0), (0.0, 1.0)))


def test_clock_counts_events_and_takes_off_its_own_cost():
    """An event that does nothing never costs less than nothing."""
    clock = Clock()
    for _ in range(100):
        with clock:
            pass
    assert clock.n_events == 100
    assert 0.0 <= clock.longest <= clock.seconds or clock.seconds == 0.0


def test_classification_figures():
    """Accuracy and log-loss by hand; a class given no probability costs the floor's log."""
    figures = classification(
        Scripted(),
        events(
            ({}, "a"),
            ({"a": 0.8, "b": 0.2}, "a"),
            ({"a": 0.6, "b": 0.4}, "b"),
            ({"a": 1.0}, "b"),
            ({}, "b"),
        ),
    )
    losses = [0.8, 0.4, LEAST_PROBABILITY, LEAST_PROBABILITY]
    assert figures["accuracy"] == 0.25
    assert figures["log_loss"] == round(-sum(map(math.log, losses)) / 4, 5)


def test_areas_by_hand():
    """Of 2 x 3 pairs one is in the wrong order and one a tie; thresholds .9, .5 and .2 have the
    precisions 1, 2/4 and 2/5, of which the last adds no recall.
    """
    scores = np.array([0.9, 0.5, 0.5, 0.5, 0.2])
    positive = np.array([True, True, False, False, False])
    assert roc_auc(scores, positive) == pytest.approx((3 + 0.5 + 0.5 + 1) / 6)
    assert pr_auc(scores, positive) == pytest.approx(0.5 * 1 + 0.5 * 2 / 4)


def test_areas_against_scikit_learn():
    """Of random scores with many ties."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        positive = rng.random(200) < 0.2
        scores = np.round(rng.random(200) + 0.3 * positive, 1)
        assert roc_auc(scores, positive) == pytest.approx(roc_auc_score(positive, scores))
        assert pr_auc(scores, positive) == pytest.approx(average_precision_score(positive, scores))


def test_areas_are_of_the_rarer_of_two_classes_or_of_all():
    """One that is never predicted is ranked by 0 everywhere: half of its pairs are right."""
    answers = [{"a": 0.9, "b": 0.1}, {"a": 0.8, "b": 0.2}, {"a": 0.7, "b": 0.3}]
    assert by_class(roc_auc, answers, ["a", "a", "b"]) == 1.0
    assert by_class(roc_auc, answers, ["b", "a", "a"]) == 0.0
    assert by_class(roc_auc, answers, ["a", "b", "c"]) == pytest.approx((1.0 + 0.5 + 0.5) / 3)
    assert math.isnan(by_class(pr_auc, answers, ["a", "a", "a"]))


def test_calibration_error_by_hand():
    """Bins weigh by their events: (2 |0.85 - 1| + 2 |0.65 - 0.5|) / 4."""
    assert calibration_error([0.85, 0.85, 0.65, 0.65], [True, True, True, False]) == pytest.approx(
        0.15
    )


def test_calibrated_learner_has_hardly_any_calibration_error():
    """Of 20,000 answers that are right as often as they are sure, each bin is within 5 SE."""
    draws = random.Random(11)
    sure = [draws.random() for _ in range(20_000)]
    hits = [draws.random() < p for p in sure]
    # The sum over ten bins of 2,000: 10 * 5 * sqrt(2000 * .25) / 20000.
    assert calibration_error(sure, hits) < 10 * 5 * math.sqrt(2000 * 0.25) / 20_000


def test_intervals_count_from_event_101():
    """Coverage and score are means over the scored events, misses cost 20 a unit at 90 %."""
    quiet = [(0.0, 0.5)] * 100
    figures = intervals(Scripted(), events(*quiet, *[(0.0, 0.5)] * 9, (0.0, 3.0)))
    assert figures["n_scored"] == 10
    assert figures["coverage"] == 0.9
    assert figures["score"] == pytest.approx(2.0 + 20 * 2.0 / 10)
    # All residuals before were 0.5, so the rolling quantile is, too.
    assert figures["rolling_coverage"] == 0.9
    assert figures["rolling_score"] == pytest.approx(1.0 + 20 * 2.5 / 10)


def test_interval_of_the_wrong_way_round_is_an_explosion():
    """An interval whose low end is above its high end is none."""

    class Reversed(Scripted):
        def predict_interval(self, x, level):
            return x["says"] + 1, x["says"] - 1

    with pytest.raises(ExplodedError, match="interval"):
        intervals(Reversed(), events((0.0, 1.0), (0.0, 1.0)))


def test_rolling_quantile_covers_as_often_as_it_says():
    """On 5,000 independent residuals, coverage is within 5 standard errors of 90 %.

    The quantile is itself an estimate from 500, of standard error sqrt(.09 / 500), and 5,000 events
    hold ten independent windows.
    """
    draws, rolling, covered = random.Random(5), RollingQuantile(), 0
    for t in range(5500):
        residual = draws.gauss(0, 1)
        covered += t >= 500 and abs(residual) <= rolling.half_width()
        rolling.update(residual)
    error = math.sqrt(0.09 / 5000 + 0.09 / 500 / 10)
    assert abs(covered / 5000 - 0.9) < 5 * error
