"""`Baselines`: scored on the learner's labelled events, without looking ahead."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import stats
from support.list_source import LIST

from iln_stream.loop import Classification, Regression, Step
from iln_stream.state import from_bytes, to_bytes

LEAST = Classification.least
CLASSES = st.sampled_from(["a", "b", 3])


def step(y, event_id=None, late=False):
    return Step(LIST, 0, event_id, None, {}, y, 0.0, None if y is None else 0.5, late=late)


def windowed(baselines):
    return {name: each.windowed for name, each in baselines.by_name.items()}


def running(baselines):
    return {name: each.running for name, each in baselines.by_name.items()}


def read(baselines):
    (metric,) = baselines.metrics()
    return metric.read()


@given(st.lists(st.floats(-1e6, 1e6) | st.none(), max_size=60), st.integers(1, 10))
def test_regression_is_rivers_own_mean_and_the_label_before(labels, window):
    """Each error is that of River's running mean, and of the label before; 0 at first."""
    mean, last = stats.Mean(), 0.0
    errors = {"running_mean": [], "last_value": []}
    for y in labels:
        if y is not None:
            errors["running_mean"].append(abs(mean.get() - y))
            errors["last_value"].append(abs(last - y))
            mean.update(y)
            last = y
    baselines = Regression().baselines(window)
    baselines.update([step(y) for y in labels])
    for name, found in errors.items():
        if not found:
            assert math.isnan(windowed(baselines)[name])
            continue
        recent = found[-window:]
        close = {"rel": 1e-9, "abs": 1e-6}
        assert windowed(baselines)[name] == pytest.approx(sum(recent) / len(recent), **close)
        assert running(baselines)[name] == pytest.approx(sum(found) / len(found), **close)


@given(st.lists(CLASSES | st.none(), max_size=60), st.integers(1, 10))
def test_classification_is_the_log_loss_of_the_classes_frequencies(labels, window):
    """Frequencies are counted again from all labels before each event; 0 before the first."""
    known = [y for y in labels if y is not None]
    losses = [0.0] * bool(known)
    losses += [-math.log(max(known[:n].count(known[n]) / n, LEAST)) for n in range(1, len(known))]
    baselines = Classification().baselines(window)
    baselines.update([step(y) for y in labels])
    if not losses:
        assert math.isnan(windowed(baselines)["class_frequencies"])
        return
    recent = losses[-window:]
    assert windowed(baselines)["class_frequencies"] == pytest.approx(sum(recent) / len(recent))
    assert running(baselines)["class_frequencies"] == pytest.approx(sum(losses) / len(losses))


def test_majority_class():
    """The majority changes when another class has more labels, not when it has as many."""
    baselines = Classification().baselines(10)
    baselines.update([step(y) for y in ["a", "a", "b", "b", "b", "b"]])
    # No class; a, a, a, a predicted; then b.
    assert running(baselines)["majority_class"] == pytest.approx(4 / 6)
    assert read(baselines)["misclassification", "all", "majority_class"] == pytest.approx(4 / 6)


def test_a_late_label_is_compared_with_what_was_known_at_the_prediction():
    """A label that came between an event and its own label does not help a baseline."""
    baselines = Regression().baselines(10)
    late = step(6.0, "a", late=True)._replace(baselines=(4.0, 4.0))
    baselines.update([step(4.0), step(None, "a"), step(10.0), late])
    # 4 at 0, 0; 10 at 4, 4; then 6 at 4, 4, although 7 is the mean now and 10 the last label.
    assert running(baselines) == {
        "running_mean": pytest.approx((4 + 6 + 2) / 3),
        "last_value": pytest.approx((4 + 6 + 2) / 3),
    }


def test_a_late_class_is_compared_with_the_frequencies_at_the_prediction():
    """Classes that came between an event and its own do not help a baseline."""
    baselines = Classification().baselines(10)
    late = step("b", "e", late=True)._replace(baselines=(2.0, 1.0))
    baselines.update([*(step(y) for y in "aab"), step(None, "e"), step("b"), step("b"), late])
    before = Classification().baselines(10)
    before.update([*(step(y) for y in "aabbb")])
    total = 5 * running(before)["class_frequencies"] + math.log(3 / 1)
    assert running(baselines)["class_frequencies"] == pytest.approx(total / 6)
    assert running(baselines)["majority_class"] == pytest.approx(
        (5 * running(before)["majority_class"] + 1) / 6
    )


def test_a_late_class_among_as_many_classes_as_are_kept():
    """With 32 classes a late label is still scored by the counts when its event came."""
    baselines = Classification().baselines(100)
    known = tuple(float(n == 0) or 2.0 for n in range(32))
    late = step(0, "e", late=True)._replace(baselines=known)
    baselines.update([*(step(y) for y in range(32)), late])
    before = Classification().baselines(100)
    before.update([step(y) for y in range(32)])
    total = 32 * running(before)["class_frequencies"] + math.log(sum(known))
    assert running(baselines)["class_frequencies"] == pytest.approx(total / 33)


def test_huge_labels_leave_the_mean_finite():
    """Labels of opposite sign near the largest float must not make the mean infinite for ever."""
    baselines = Regression().baselines(2)
    baselines.update([step(y) for y in (1.7e308, -1.7e308, 1.7e308, -1.7e308)])
    baselines.update([step(1.0)] * 2)
    assert math.isfinite(windowed(baselines)["running_mean"])


def hourly(labels, delay=None):
    """Return a step for each hour, with its label, or with one that comes seconds later."""
    late = delay is not None
    return [
        step(y, late=late)._replace(
            time=3600.0 * n, delay=delay, baselines=(0.0, labels[max(0, n - 1)]) if late else ()
        )
        for n, y in enumerate(labels)
    ]


DAYS = [float((n * n) % 24 + n // 24) for n in range(20 * 24)]


def test_a_seasonal_baseline_is_the_label_of_a_day_before():
    """Its error is that of the same hour's label, once twenty hours in a row have had one; until
    then, and in the mean over all of the learner's events, that of the last label."""
    baselines = Regression().baselines(1000)
    baselines.update(hourly(DAYS))
    last = np.abs(np.diff(DAYS, prepend=0.0))
    for name, first, hours in (("day_before", 44, 24), ("week_before", 188, 168)):
        errors = np.abs(np.subtract(DAYS[first:], DAYS[first - hours : -hours]))
        read_errors = read(baselines)
        assert read_errors["mae", "window", name] == pytest.approx(errors.mean())
        expected = np.append(last[:first], errors).mean()
        assert read_errors["mae", "all", name] == pytest.approx(expected)
    assert "MAE" in baselines.summary(Regression().scores(10), recent=True)


def test_a_seasonal_baseline_is_weighted_as_the_others_are():
    """Its mean is of the same weights, so that it can be compared with the learner's."""
    baselines, labels = Regression().baselines(1000), [float(n**3 % 101) for n in range(20 * 24)]
    weights = [1.0 + n % 5 for n in range(len(labels))]
    hours = zip(hourly(labels), weights, strict=True)
    baselines.update([each._replace(weight=w) for each, w in hours])
    errors = np.abs(np.subtract(labels[44:], labels[20:-24]))
    expected = np.average(errors, weights=weights[44:])
    assert read(baselines)["mae", "window", "day_before"] == pytest.approx(expected)
    last = np.abs(np.diff(labels, prepend=0.0))
    expected = np.average(np.append(last[:44], errors), weights=weights)
    assert read(baselines)["mae", "all", "day_before"] == pytest.approx(expected)


def test_one_wrong_date_does_not_end_a_seasonal_baseline():
    """After a time of 2099 labels are remembered as before."""
    baselines, hours = Regression().baselines(100), hourly(DAYS)
    hours[10] = hours[10]._replace(time=4e9)
    baselines.update(hours)
    expected = [abs(y - before) for y, before in zip(DAYS[-100:], DAYS[-124:], strict=False)]
    assert read(baselines)["mae", "window", "day_before"] == pytest.approx(np.mean(expected))


@pytest.mark.parametrize(("hours", "is_known"), [(24, True), (25, False)])
def test_a_seasonal_baseline_knows_no_label_before_it_comes(hours, is_known):
    """A label that comes after a day is known in time for the same hour; a later one is not."""
    baselines = Regression().baselines(1000)
    baselines.update(hourly(DAYS, delay=3600.0 * hours))
    assert (("mae", "window", "day_before") in read(baselines)) == is_known


def test_a_fast_stream_has_no_seasonal_baseline():
    """Few labels are kept of a fast stream, so that they reach back a day; most times lack one."""
    baselines = Regression().baselines(1000)
    baselines.update([step(1.0)._replace(time=float(10 * n)) for n in range(20_000)])
    assert read(baselines).keys() >= {("mae", "all", "last_value")}
    assert ("mae", "all", "day_before") not in read(baselines)
    assert len(baselines.state()["seasonal"]["past"]["rows"]) <= 1500


STEPS = [
    *(step(float(n % 7), str(n)) for n in range(40)),
    *(step(None, str(n)) for n in range(40, 60)),
    *(step(float(n % 5), str(n), late=True) for n in range(45, 60, 2)),
    *(step(float(n % 3))._replace(time=3600.0 * n) for n in range(90)),
    *(step(3.0)._replace(time=time) for time in (9e5, 36.0, 9e5, 4e5)),  # one comes again
]


@pytest.mark.parametrize("task", [Regression(), Classification()], ids=lambda task: task.name)
@pytest.mark.parametrize("until", [50, -1])
def test_a_restored_state_goes_on_bit_for_bit(task, until):
    """Scores and predictions go through a file, and continue with the same bits."""
    whole, first, second = (task.baselines(15) for _ in range(3))
    whole.update(STEPS)
    for each in STEPS[:until]:
        first.update([each])
    second.restore(from_bytes(to_bytes(first.state())))
    second.update(STEPS[until:])
    assert to_bytes(second.state()) == to_bytes(whole.state())
    assert read(second) == read(whole)


def summaries(task, *labels):
    """What is said of a learner that always predicts 0, or "a": of all events, and of the last."""
    baselines, scores = task.baselines(5), task.scores(5)
    for y in labels:
        each = step(y)._replace(y_pred=0.0 if isinstance(y, float) else {"a": 0.9}, loss=0.25)
        baselines.update([each])
        scores.update([each])
    return baselines.summary(scores, recent=False), baselines.summary(scores, recent=True)


def test_summaries():
    """Numbers are compared with the better baseline, classes with both; a learner that is worse,
    or no better, is called that."""
    assert summaries(Regression(), 1.0, 3.0, 1.0, 3.0) == (
        "MAE 2, 50 % worse than the running mean (1.333)", "MAE 2 (running mean 1.333)",
    )  # fmt: skip
    walk, recent = summaries(Regression(), *map(float, range(9)))
    assert walk == "MAE 4, 350 % worse than the last value (0.8889)"
    assert recent == "MAE 6 (last value 1)"
    assert summaries(Regression(), 0.0)[0] == "MAE 0, about as good as the running mean (0)"
    assert summaries(Regression(), 0.0, 0.0, 8.0, 0.0)[0].startswith("MAE 2, 25 % better than ")
    mostly = summaries(Regression(), *(20 * (0.0, 0.0, 8.0, 0.0)))
    assert mostly == ("MAE 2, about as good as the median (2)", "MAE 1.6 (median 1.6)")
    classes, recent = summaries(Classification(), "a", "b", "a")
    assert re.fullmatch(
        r"log loss 0.25, 98 % better than the class frequencies \(\S+\); accuracy 0.6667 "
        r"\(majority class 0.3333\)", classes,
    )  # fmt: skip
    assert recent.startswith("log loss ")
    assert "(class frequencies " in recent
