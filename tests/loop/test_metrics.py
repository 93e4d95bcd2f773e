"""Metrics: each equals its value recomputed from the steps, and continues from a saved state."""

import random
import time
from collections.abc import Mapping
from itertools import chain, islice, product
from statistics import fmean
from typing import Any, NamedTuple

import pytest
from prometheus_client import CollectorRegistry
from river import linear_model, preprocessing
from river.datasets import synth
from support.heard import Heard
from support.list_source import LIST, ListSource

from iln_stream.errors import IlnError
from iln_stream.learners import find_shrinking_gradient
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.loop import PrequentialLoop, Regression, Step
from iln_stream.loop.metrics import DELAYS, SECONDS, Metrics, ModelMetrics, partition_label
from iln_stream.loop.slices import DailyRhythm
from iln_stream.records import Command, DeadLetter
from iln_stream.reporting import MetricSpec
from iln_stream.streams.river import RiverDatasetSource

WINDOW = 40
BOUND = 0.01
ETA = 0.9
"""A big step for so small a bound: |E_t| reaches 16 B now and then."""

ALGORITHM_1 = ("iln_alpha_l1", "iln_shrink_frequency")

Pair = tuple[Mapping[Any, Any], Any]


class Recorder(Heard):
    """Keeps the updates of Algorithm 1, too."""

    def __init__(self, learner):
        super().__init__()
        self.updates = []
        self._algorithm_1 = find_shrinking_gradient(learner)

    @property
    def labelled(self):
        return [step for step in self.steps if step.y is not None]

    def on_step(self, step):
        super().on_step(step)
        if step.y is not None and self._algorithm_1 and (update := self._algorithm_1.last_update):
            self.updates.append(update)


class Run(NamedTuple):
    """A learner's run over a stream, with the registry of its metrics."""

    registry: CollectorRegistry
    recorder: Recorder
    learner: Any

    def value(self, name, **more):
        return self.registry.get_sample_value(name, {"model": "iln", "partition": "0", **more})

    def error(self, measure, over):
        return self.value("iln_error", measure=measure, over=over, of="model")


def learn(learner, pairs):
    registry, source = CollectorRegistry(), RiverDatasetSource(pairs, "iln")
    watched = Metrics(registry, WINDOW).watch(learner, source, "iln")
    recorder = Recorder(learner)
    PrequentialLoop(source, learner, [watched, recorder]).run()
    return Run(registry, recorder, learner)


def friedman(n, seed=1):
    return islice(synth.Friedman(seed=seed), n)


def small_targets(n):
    """Targets within [-1, 1], so that Algorithm 1 needs no scaling and y_pred is its E_t."""
    return ((x, (y - 14.0) / 20.0) for x, y in friedman(n))


def some_without_labels_and_some_garbage():
    for number, (x, y) in enumerate(friedman(120)):
        yield x, None if number % 3 == 0 else "garbage" if number % 10 == 1 else y


@pytest.fixture(scope="module")
def run():
    """Algorithm 1 on a stream long enough to fill the window several times, with shrinks."""
    learner = ShrinkingGradient(norm_bound=BOUND, step=ETA, seed=1)
    return learn(learner, small_targets(300))


def test_counts_every_record_as_what_it_was():
    """Unlabelled events, labelled events and dead letters have separate counts."""
    run = learn(ScaledTarget(ShrinkingGradient(seed=1)), some_without_labels_and_some_garbage())
    assert run.value("iln_events_total") == len(run.recorder.steps) == 112
    assert run.value("iln_labelled_events_total") == len(run.recorder.labelled) == 72
    assert run.value("iln_dead_letters_total") == len(run.recorder.letters) == 8


@pytest.mark.parametrize(("over", "last"), [("all", 300), ("window", WINDOW)])
def test_losses_are_means_over_all_labelled_events_or_the_last(run, over, last):
    """The running loss is the mean that the paper's regret bound limits; a drift shows in the
    window long before."""
    steps = run.recorder.labelled[-last:]
    loss = fmean((step.y_pred - target(step)) ** 2 / 2 for step in steps)
    error = fmean(abs(step.y_pred - target(step)) for step in steps)
    assert run.error("loss", over) == pytest.approx(loss)
    assert run.error("mae", over) == pytest.approx(error)
    assert run.value("iln_running_loss") == run.error("loss", "all")
    assert run.error("loss", "window") != pytest.approx(run.error("loss", "all"))


def test_frequency_of_shrinks_is_over_the_window(run):
    """A run that shrank long ago and has settled must not look as if it still diverged."""
    shrunk = [abs(step.y_pred) >= 16 * BOUND for step in run.recorder.labelled]
    assert run.learner.n_shrinks == sum(shrunk) > 0
    assert run.value("iln_shrink_frequency") == pytest.approx(fmean(shrunk[-WINDOW:]))
    assert fmean(shrunk[-WINDOW:]) != pytest.approx(fmean(shrunk))


def test_alpha_is_that_of_algorithm_1(run):
    """Replaying the paper's three lines on the steps gives the same norm and the same points; the
    variance is that of the estimate in the last labelled event."""
    alpha = replayed_alpha(run.recorder.labelled)
    assert run.value("iln_alpha_l1") == pytest.approx(sum(map(abs, alpha)))
    assert run.learner.n_support == len(alpha)
    last = run.recorder.updates[-1].estimate
    assert last.value == run.recorder.labelled[-1].y_pred
    assert run.learner.estimate_variance == pytest.approx(last.standard_error**2)
    assert last.standard_error > 0


def test_histogram_is_cumulative_and_sums_up(run):
    """histogram_quantile() gives nonsense on buckets that are not cumulative."""
    seconds = [step.seconds for step in run.recorder.steps]
    assert run.value("iln_step_duration_seconds_sum") == pytest.approx(sum(seconds))
    assert run.value("iln_step_duration_seconds_count") == len(seconds)
    samples = chain.from_iterable(family.samples for family in run.registry.collect())
    buckets = "iln_step_duration_seconds_bucket"
    bounds = [sample.labels["le"] for sample in samples if sample.name == buckets]
    counts = [run.value(buckets, le=bound) for bound in bounds]
    assert counts == [sum(s <= float(bound) for s in seconds) for bound in bounds]
    assert counts[-1] == len(seconds)
    assert len(set(counts)) > 2


def test_lag_is_what_the_source_says():
    """A source that stops before its end has the number of remaining events as lag; for one without
    an end, 0 would claim that the learner is up to date."""
    registry = CollectorRegistry()
    source = RiverDatasetSource(friedman(10_000), "friedman", limit=1200)
    Metrics(registry).watch(ShrinkingGradient(seed=1), source, "iln")
    lag = {"model": "iln", "partition": "0"}
    assert registry.get_sample_value("iln_consumer_lag_records", lag) == 1200
    read = len(source.poll(timeout=0))
    assert registry.get_sample_value("iln_consumer_lag_records", lag) == 1200 - read
    endless = learn(linear_model.LinearRegression(), friedman(10))
    assert endless.value("iln_consumer_lag_records") is None


def test_before_the_first_label_there_are_counters_but_no_means():
    """Without labels means have no sample, as 0 would look like a perfect model."""
    run = learn(ShrinkingGradient(seed=1), ((x, None) for x, _ in friedman(5)))
    names = ("iln_running_loss", "iln_shrink_frequency")
    assert [run.value(name) for name in names] == [None] * 2
    assert [run.error(*of) for of in product(("mae", "loss"), ("window", "all"))] == [None] * 4
    assert run.value("iln_events_total") == 5
    assert run.value("iln_labelled_events_total") == 0
    assert run.value("iln_dead_letters_total") == 0


def test_any_other_regressor_exposes_nothing_of_algorithm_1():
    """A shrink count of 0 would claim that the pipeline could shrink."""
    learner = preprocessing.StandardScaler() | linear_model.LinearRegression()
    run = learn(learner, friedman(50))
    samples = chain.from_iterable(family.samples for family in run.registry.collect())
    assert not {sample.name for sample in samples} & set(ALGORITHM_1)
    assert run.error("mae", "all") == pytest.approx(
        fmean(abs(step.y_pred - target(step)) for step in run.recorder.steps)
    )


def replayed_alpha(steps):
    """Algorithm 1's lines 4 to 8, where y_pred is E_t."""
    alpha = []
    for step in steps:
        if abs(step.y_pred) < 16 * BOUND:
            alpha.append(ETA * (target(step) - step.y_pred))
        else:
            alpha = [each / 4 for each in alpha]
    return alpha


def target(step):
    assert step.y is not None
    return step.y


class Faulty:
    """A user's learner with a metric that fails."""

    flags = ()

    def __init__(self, *specs):
        self._specs = specs

    def report(self, y_pred, y):
        return None, ()

    def metrics(self):
        return self._specs

    def predict_one(self, x):
        return 0.0


@pytest.mark.parametrize("value", [None, "text"])
def test_a_metric_that_fails_hides_no_other(value, caplog):
    """A failing metric is logged, and the others are scraped."""

    def read():
        return value if value is not None else {}["no such"]

    registry = CollectorRegistry()
    metrics = Metrics(registry)
    source = RiverDatasetSource([], "nothing")
    metrics.watch(Faulty(MetricSpec("faulty", "gauge", "Fails.", read)), source, "own")
    assert registry.get_sample_value("faulty", {"model": "own", "partition": "0"}) is None
    labels = {"model": "own", "partition": "0"}
    assert registry.get_sample_value("iln_events_total", labels) == 0
    assert "can't read metric faulty of own, partition 0: " in caplog.text


@pytest.mark.parametrize(
    "spec",
    [
        MetricSpec("iln_events_total", "counter", "Ours.", lambda: 1),
        MetricSpec("iln_alpha_l1", "counter", "Another kind.", lambda: 1),
        MetricSpec(
            "iln_recent_error_ratio", "gauge", "Another label.", lambda: {"a": 1.0}, "input"
        ),
    ],
)
def test_a_name_that_is_taken(spec):
    """A metric whose name is taken is an error that names it."""
    metrics = Metrics(CollectorRegistry())
    source = RiverDatasetSource([], "nothing")
    metrics.watch(InfiniteLayerRegressor(seed=1), source, "ours")
    with pytest.raises(IlnError, match=f"metric {spec.name} of own/0"):
        metrics.watch(Faulty(spec), source, "own")


LETTER = DeadLetter.of("s", 0, 9, b"", "malformed")
COMMAND = Command("list", 0, 2, None, "promote", "linear")


def watched():
    return ModelMetrics(linear_model.LinearRegression(), ListSource([]), "m", Regression(), 10)


def step(seconds=0.0, y=1.0, ended=0.0):
    return Step(LIST, 0, None, None, {}, y, 0.0, 0.5, seconds=seconds, ended=ended)


@pytest.mark.parametrize("n", [1, 99, 100, 101, 250])
def test_counts_are_current(n):
    """Every step is counted when a value is read, however many form a batch; one that is longer
    than all buckets counts in the one above them."""
    metrics = watched()
    for _ in range(n):
        metrics.on_step(step(seconds=2.0))
    latency, delay = metrics.histograms
    counts = latency.counts
    assert (metrics.scores.n_events, sum(counts), latency.total) == (n, n, 2.0 * n)
    assert counts[SECONDS.index(2.5)] == n
    assert sum(delay.counts) == 0
    metrics.on_step(step(seconds=60.0))
    assert metrics.histograms[0].counts == [n * (bound == 2.5) for bound in SECONDS] + [1]


def test_delays_of_labels():
    """The delays of late labels are counted by bucket; a label before its event came at once."""
    metrics = watched()
    for delay in (30.0, 86_400.0, -5.0, None):
        metrics.on_step(step()._replace(late=True, delay=delay))
    _, delays = metrics.histograms
    assert delays.total == 86_430.0
    assert [bound for bound, n in zip(DELAYS, delays.counts, strict=False) if n] == [
        1.0, 60.0, 86_400.0
    ]  # fmt: skip


def test_progress():
    """Each event, letter, repeat, command and pause is progress; time alone is none."""
    metrics = watched()
    for happens in (
        lambda: metrics.on_step(step(ended=time.perf_counter())),
        lambda: metrics.on_dead_letter(LETTER),
        lambda: metrics.on_repeat(LIST, 1),
        lambda: metrics.on_command(COMMAND),
        lambda: metrics.on_idle(),
    ):
        before = metrics.last_progress
        time.sleep(0.05)
        assert metrics.last_progress == pytest.approx(before, abs=0.01)
        happens()
        assert metrics.last_progress >= before + 0.04


def test_continues_from_a_state():
    """A restored listener continues the counts and scores of the saved one."""
    first, second = watched(), watched()
    for metrics in (first, second):
        metrics.on_step(step(y=3.0))
        metrics.on_dead_letter(LETTER)
        metrics.on_repeat(LIST, 1)
        metrics.on_command(COMMAND)
    second.restore(first.state())
    second.on_step(step(y=1.0))
    second.on_dead_letter(LETTER)
    assert (second.scores.n_events, second.n_dead_letters, second.n_repeats) == (2, 2, 1)
    assert second.n_commands == 1
    assert second.scores.running_error == 2.0


def test_label_of_partitions():
    """The label names a range of partitions, or each one where some are missing."""
    assert [partition_label(p) for p in ([4], [2, 1, 3], [3, 1])] == ["4", "1-3", "1,3"]


def test_the_daily_rhythm_is_that_of_single_errors():
    """However many errors come together, the sums of hours are the same, before 1970, too."""
    draw = random.Random(1)
    errors = [(draw.uniform(-9e3, 9e3), draw.random()) for _ in range(300)]
    one, many = DailyRhythm(), DailyRhythm()
    for each in errors:
        one.add([each])
    for start in range(0, 300, 7):
        many.add(errors[start : start + 7])
    assert one.hours == many.hours
    assert sum(n for n, _ in one.hours.values()) == 300
