"""Scores: means stay exact on long streams; measures of probabilities, beside scikit-learn's."""

import math
import random
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from support.list_source import LIST

from iln_stream.loop import Classification, RegressionScores, Step
from iln_stream.loop.scores import (
    Window,
    average_precision,
    brier_score,
    by_class,
    calibration_error,
    roc_auc,
)
from iln_stream.reporting import FlagSpec

SHRUNK = FlagSpec("shrunk", "iln_shrink_frequency", "Shrinks.")

numbers = st.floats(-1e100, 1e100)


def step(y, y_pred, loss, shrunk=False):
    return Step(LIST, 0, None, None, {}, y, y_pred, loss, ("shrunk",) if shrunk else ())


def test_predicted_before_any_class_was_known():
    """Events whose labels come late are often predicted before the first label: they have no score,
    neither the learner's nor the baselines', also after a restart; the summary counts them."""
    task = Classification()
    seen = [step(y, {y: 0.75, "c": 0.25}, 0.5) for y in "abab"]
    for early in ([], [step(y, {}, 0.0) for y in "aabb"]):
        scores, baselines = task.scores(3), task.baselines(3)
        scores.update([*early, seen[0]])
        baselines.update(early or [step("a", {}, 0.0)])
        again = task.scores(3)
        again.restore(scores.state())
        for each in (scores, again):
            each.update(seen[1:])
            assert each.n_labelled == 4 + len(early)
            assert (each.running_error, each.window_error.mean, each.running_loss) == (0, 0, 0.5)
            assert len(each.window_answers) == 3
        assert again.state() == scores.state()
        assert math.isnan(baselines.by_name["majority_class"].running)
        baselines.update(seen)
        summary = baselines.summary(scores, recent=False)
        assert summary.endswith("4 events without a score, predicted before any class was known"
                                if early else ")")  # fmt: skip


def test_window_does_not_drift():
    """A huge value has no effect on the mean after it left the window."""
    window = Window(10)
    window.extend([1e300])
    for i in range(200_000):
        window.extend([0.1 * (i % 7)])
    latest = [0.1 * (i % 7) for i in range(199_990, 200_000)]
    assert window.mean == pytest.approx(np.mean(latest), rel=1e-14)


def test_window_forgets_infinity():
    """An infinite loss affects the mean only while it is in the window."""
    window = Window(2)
    window.extend([math.inf])
    assert window.mean == math.inf
    window.extend([1.0, 2.0])
    assert window.mean == 1.5


@given(st.integers(1, 20), st.lists(numbers, max_size=80), st.integers(0, 80))
def test_window_continues_to_the_last_bit(size, values, at):
    """The means of a restored window are those of the saved one, to the last bit."""
    whole, before, resumed = Window(size), Window(size), Window(size)
    at = min(at, len(values))
    whole.extend(values[:at])
    before.extend(values[:at])
    resumed.refill(before.values(), at)
    for value in [*values[at:], 0.1]:
        assert repr(resumed.mean) == repr(whole.mean)
        whole.extend([value])
        resumed.extend([value])
    assert resumed.values() == whole.values()


@given(
    st.lists(st.tuples(st.floats(-1e6, 1e6) | st.none(), st.floats(-1e6, 1e6), st.booleans())),
    st.integers(1, 10),
)
def test_scores_of_any_sequence(rows, window):
    """Counts and means, over all events and over the window, agree with numpy's."""
    scores = RegressionScores(window, [SHRUNK])
    scores.update(
        [
            step(y, y_pred, None if y is None else (y_pred - y) ** 2, shrunk)
            for y, y_pred, shrunk in rows
        ]
    )
    labelled = [row for row in rows if row[0] is not None]
    assert scores.n_events == len(rows)
    assert scores.n_labelled == len(labelled)
    if not labelled:
        assert math.isnan(scores.running_loss)
        assert math.isnan(scores.running_error)
        assert math.isnan(scores.window_flags["shrunk"].mean)
        return
    y, y_pred, shrunk = np.array(labelled, dtype=float).T
    error = y_pred - y
    assert scores.running_loss == pytest.approx(np.mean(error**2))
    assert scores.running_error == pytest.approx(np.mean(np.abs(error)))
    assert scores.window_loss.mean == pytest.approx(np.mean(error[-window:] ** 2))
    assert scores.window_error.mean == pytest.approx(np.mean(np.abs(error[-window:])))
    assert scores.window_flags["shrunk"].mean == pytest.approx(np.mean(shrunk[-window:]))


def test_window_needs_an_event():
    """A window below 1 event is refused, and the error has its value."""
    with pytest.raises(ValueError, match="window = 0 must be at least 1"):
        RegressionScores(0, [SHRUNK])


@pytest.mark.parametrize("window", [3, 5, 40])
def test_restored_scores_go_on(window):
    """Scores restored with a window of any length continue as without the restart."""
    draw = random.Random(3)
    steps = [
        step(draw.random(), draw.random(), draw.random(), draw.random() < 0.5) for i in range(90)
    ]
    whole, first, second = (
        RegressionScores(window, [SHRUNK]),
        RegressionScores(40, [SHRUNK]),
        RegressionScores(window, [SHRUNK]),
    )
    whole.update(steps)
    first.update(steps[:50])
    second.restore(first.state())
    second.update(steps[50:])
    assert second.running_loss == whole.running_loss
    assert second.running_error == whole.running_error
    assert second.window_loss.mean == pytest.approx(whole.window_loss.mean, rel=1e-12)
    assert second.window_flags["shrunk"].mean == pytest.approx(
        whole.window_flags["shrunk"].mean, rel=1e-12
    )


@given(st.lists(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), max_size=5)))
def test_scores_do_not_depend_on_how_many_come_at_once(blocks):
    """Scores are the same to the last bit, however many steps one `update` has."""
    blocks = [[step(y, y_pred, (y_pred - y) ** 2) for y, y_pred in block] for block in blocks]
    one_by_one, in_blocks = RegressionScores(7), RegressionScores(7)
    for block in blocks:
        in_blocks.update(block)
        for each in block:
            one_by_one.update([each])
    assert in_blocks.state() == one_by_one.state()


def test_no_total_without_its_count():
    """Other threads read means of whole steps at every instruction of an update."""
    scores, seen = RegressionScores(), []

    def look(frame, event, argument):
        frame.f_trace_opcodes = True
        if event == "opcode":
            seen.append((scores.n_labelled, scores.running_loss, scores.running_error))
        return look

    tracing = sys.gettrace()
    scores.update([step(0.0, 2.0, 3.0)])
    sys.settrace(look)
    try:
        scores.update([step(0.0, 2.0, 3.0)])
    finally:
        sys.settrace(tracing)
    assert set(seen) == {(1, 3.0, 2.0), (2, 3.0, 2.0)}


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
