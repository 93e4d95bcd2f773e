"""`Metrics`: every metric equals its value recomputed from the steps."""

import math
import threading
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from statistics import fmean
from typing import Any, NamedTuple

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from river import linear_model, preprocessing
from river.datasets import synth
from support.list_source import LIST

from iln_stream.errors import IlnError
from iln_stream.features import GaussianFourier
from iln_stream.learners import Update, find_shrinking_gradient
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.loop import Listener, PrequentialLoop, Step
from iln_stream.loop.metrics import Metrics
from iln_stream.records import DeadLetter
from iln_stream.reporting import MetricSpec
from iln_stream.streams.river import RiverDatasetSource

WINDOW = 40
BOUND = 0.01
ETA = 0.9
"""A big step for so small a bound: |E_t| reaches 16 B now and then."""

ALGORITHM_1 = (
    "iln_alpha_l1",
    "iln_draws",
    "iln_draws_capped_total",
    "iln_estimate_variance",
    "iln_shrink_frequency",
    "iln_shrinks_total",
    "iln_support_points",
)
MEANS = ("iln_running_loss", "iln_windowed_loss", "iln_running_mae", "iln_windowed_mae")

Pair = tuple[Mapping[Any, Any], Any]


class Recorder(Listener):
    """Keeps steps, dead letters and the updates of Algorithm 1."""

    def __init__(self, learner: Any) -> None:
        self.steps: list[Step] = []
        self.letters: list[DeadLetter] = []
        self.updates: list[Update] = []
        self._algorithm_1 = find_shrinking_gradient(learner)

    @property
    def labelled(self) -> list[Step]:
        return [step for step in self.steps if step.y is not None]

    def on_step(self, step: Step) -> None:
        self.steps.append(step)
        if step.y is not None and self._algorithm_1 and (update := self._algorithm_1.last_update):
            self.updates.append(update)

    def on_dead_letter(self, letter: DeadLetter) -> None:
        self.letters.append(letter)


class Run(NamedTuple):
    """A learner's run over a stream, with the registry of its metrics."""

    registry: CollectorRegistry
    recorder: Recorder
    learner: Any
    labels: dict[str, str]

    def value(self, name: str, **more: str) -> float | None:
        return self.registry.get_sample_value(name, {**self.labels, **more})


def learn(
    learner: Any,
    pairs: Iterable[Pair],
    *,
    metrics: Metrics | None = None,
    registry: CollectorRegistry | None = None,
    model: str = "iln",
    partition: int = 0,
    limit: int | None = None,
) -> Run:
    registry = registry or CollectorRegistry()
    metrics = metrics or Metrics(registry, WINDOW)
    source = RiverDatasetSource(pairs, model, limit)
    source.partitions = (partition,)
    watched = metrics.watch(learner, source, model)
    recorder = Recorder(learner)
    PrequentialLoop(source, learner, [watched, recorder]).run()
    return Run(registry, recorder, learner, {"model": model, "partition": str(partition)})


def friedman(n: int, seed: int = 1) -> Iterator[Pair]:
    return islice(synth.Friedman(seed=seed), n)


def small_targets(n: int) -> Iterator[Pair]:
    """Targets within [-1, 1], so that Algorithm 1 needs no scaling and y_pred is its E_t."""
    return ((x, (y - 14.0) / 20.0) for x, y in friedman(n))


def some_without_labels_and_some_garbage() -> Iterator[Pair]:
    for number, (x, y) in enumerate(friedman(120)):
        yield x, None if number % 3 == 0 else "garbage" if number % 10 == 1 else y


@pytest.fixture
def run() -> Run:
    """Algorithm 1 on a stream long enough to fill the window several times, with shrinks."""
    learner = ShrinkingGradient(norm_bound=BOUND, step=ETA, seed=1)
    return learn(learner, small_targets(300))


def test_counts_every_record_as_what_it_was() -> None:
    """Unlabelled events, labelled events and dead letters have separate counts."""
    run = learn(ScaledTarget(ShrinkingGradient(seed=1)), some_without_labels_and_some_garbage())
    assert run.value("iln_events_total") == len(run.recorder.steps) == 112
    assert run.value("iln_labelled_events_total") == len(run.recorder.labelled) == 72
    assert run.value("iln_dead_letters_total") == len(run.recorder.letters) == 8


def test_running_metrics_are_means_over_all_labelled_events(run: Run) -> None:
    """The running loss is the mean that the paper's regret bound limits."""
    steps = run.recorder.labelled
    loss = fmean((step.y_pred - target(step)) ** 2 / 2 for step in steps)
    error = fmean(abs(step.y_pred - target(step)) for step in steps)
    assert run.value("iln_running_loss") == pytest.approx(loss)
    assert run.value("iln_running_mae") == pytest.approx(error)


def test_windowed_metrics_forget_what_left_the_window(run: Run) -> None:
    """A drift shows in the window long before it shows in the running mean."""
    steps = run.recorder.labelled[-WINDOW:]
    loss = fmean((step.y_pred - target(step)) ** 2 / 2 for step in steps)
    error = fmean(abs(step.y_pred - target(step)) for step in steps)
    assert run.value("iln_windowed_loss") == pytest.approx(loss)
    assert run.value("iln_windowed_mae") == pytest.approx(error)
    assert run.value("iln_windowed_loss") != pytest.approx(run.value("iln_running_loss"))


def test_loss_is_on_the_learners_scale_and_mae_in_the_labels_units() -> None:
    """Behind a scaler the two differ by orders of magnitude; a mix-up would look like learning."""
    run = learn(ScaledTarget(ShrinkingGradient(seed=1)), friedman(100))
    assert run.value("iln_running_loss") == pytest.approx(
        fmean(update.loss for update in run.recorder.updates)
    )
    assert run.value("iln_running_mae") == pytest.approx(
        fmean(abs(step.y_pred - target(step)) for step in run.recorder.labelled)
    )


def test_shrinks_are_counted_for_ever_and_their_frequency_over_the_window(run: Run) -> None:
    """A run that shrank long ago and has settled must not look as if it still diverged."""
    shrunk = [abs(step.y_pred) >= 16 * BOUND for step in run.recorder.labelled]
    assert run.value("iln_shrinks_total") == sum(shrunk) > 0
    assert run.value("iln_shrink_frequency") == pytest.approx(fmean(shrunk[-WINDOW:]))
    assert fmean(shrunk[-WINDOW:]) != pytest.approx(fmean(shrunk))


def test_alpha_and_support_are_those_of_algorithm_1(run: Run) -> None:
    """Replaying the paper's three lines on the steps gives the same norm and the same points."""
    alpha = replayed_alpha(run.recorder.labelled)
    assert run.value("iln_alpha_l1") == pytest.approx(sum(map(abs, alpha)))
    assert run.value("iln_support_points") == len(alpha)


@pytest.mark.filterwarnings("ignore::iln_stream.errors.IlnWarning")
def test_draws_and_their_ceiling_follow_from_alpha() -> None:
    """Draws are q ||alpha||_1^2 / v within their bounds; each event at the ceiling is counted."""
    learner = ShrinkingGradient(step=0.2, min_draws=16, max_draws=150, seed=1)
    run = learn(learner, small_targets(100))
    steps = run.recorder.labelled
    norms = [sum(map(abs, replayed_alpha(steps[:t], eta=0.2, bound=1.0))) for t in range(100)]
    wanted = [GaussianFourier().q * norm**2 / learner.variance for norm in norms]
    assert run.value("iln_draws") == max(16, math.ceil(min(wanted[-1], 150)))
    assert run.value("iln_draws_capped_total") == sum(draws > 150 for draws in wanted)
    assert 0 < sum(draws > 150 for draws in wanted) < 100


def test_estimate_variance_is_that_of_the_last_labelled_event(run: Run) -> None:
    """The metric is the variance of the estimate in the last labelled event."""
    last = run.recorder.updates[-1].estimate
    assert last.value == run.recorder.labelled[-1].y_pred
    assert run.value("iln_estimate_variance") == pytest.approx(last.standard_error**2)
    assert last.standard_error > 0


def test_histogram_is_cumulative_and_sums_up(run: Run) -> None:
    """histogram_quantile() gives nonsense on buckets that are not cumulative."""
    seconds = [step.seconds for step in run.recorder.steps]
    assert run.value("iln_step_duration_seconds_sum") == pytest.approx(sum(seconds))
    assert run.value("iln_step_duration_seconds_count") == len(seconds)
    bounds = bucket_bounds(run.registry)
    counts = [run.value("iln_step_duration_seconds_bucket", le=bound) for bound in bounds]
    assert counts == [sum(s <= float(bound) for s in seconds) for bound in bounds]
    assert counts[-1] == len(seconds)
    assert len(set(counts)) > 2


def test_a_step_as_long_as_a_bucket_is_wide_falls_into_it() -> None:
    """Prometheus's `le` means less than *or equal*."""
    registry = CollectorRegistry()
    source = RiverDatasetSource([], "none")
    watched = Metrics(registry).watch(ShrinkingGradient(seed=1), source, "iln")
    watched.on_step(Step(LIST, 0, None, None, {}, None, 0.0, None, seconds=0.01))
    labels = {"model": "iln", "partition": "0"}
    buckets = "iln_step_duration_seconds_bucket"
    assert registry.get_sample_value(buckets, {**labels, "le": "0.005"}) == 0
    assert registry.get_sample_value(buckets, {**labels, "le": "0.01"}) == 1


def test_lag_is_what_the_source_says() -> None:
    """A source that stops before its end has the number of remaining events as lag."""
    registry = CollectorRegistry()
    source = RiverDatasetSource(friedman(10_000), "friedman", limit=1200)
    Metrics(registry).watch(ShrinkingGradient(seed=1), source, "iln")
    lag = {"model": "iln", "partition": "0"}
    assert registry.get_sample_value("iln_consumer_lag", lag) == 1200
    read = len(source.poll(timeout=0))
    assert registry.get_sample_value("iln_consumer_lag", lag) == 1200 - read


def test_a_source_without_an_end_has_no_lag() -> None:
    """0 would claim that the learner is up to date."""
    run = learn(linear_model.LinearRegression(), friedman(10))
    assert run.value("iln_consumer_lag") is None


def test_before_the_first_label_there_are_counters_but_no_means() -> None:
    """Without labels means have no sample, as 0 would look like a perfect model."""
    run = learn(ShrinkingGradient(seed=1), ((x, None) for x, _ in friedman(5)))
    assert [run.value(name) for name in (*MEANS, "iln_shrink_frequency")] == [None] * 5
    assert run.value("iln_events_total") == 5
    assert run.value("iln_labelled_events_total") == 0
    assert run.value("iln_dead_letters_total") == 0


def test_two_partitions_do_not_mix() -> None:
    """Each learner's series describe only that learner."""
    registry = CollectorRegistry()
    metrics = Metrics(registry, WINDOW)
    both = [
        learn(
            ShrinkingGradient(norm_bound=BOUND, step=ETA, seed=partition),
            small_targets(100 + 50 * partition),
            metrics=metrics,
            registry=registry,
            partition=partition,
        )
        for partition in (0, 1)
    ]
    alone = [
        learn(
            ShrinkingGradient(norm_bound=BOUND, step=ETA, seed=partition),
            small_targets(100 + 50 * partition),
            partition=partition,
        )
        for partition in (0, 1)
    ]
    names = (*MEANS, *ALGORITHM_1, "iln_events_total", "iln_step_duration_seconds_count")
    for name in names:
        assert [run.value(name) for run in both] == [run.value(name) for run in alone], name
    assert [run.value("iln_events_total") for run in both] == [100, 150]


def test_any_other_regressor_exposes_nothing_of_algorithm_1() -> None:
    """A shrink count of 0 would claim that the pipeline could shrink."""
    learner = preprocessing.StandardScaler() | linear_model.LinearRegression()
    run = learn(learner, friedman(50))
    samples = chain.from_iterable(family.samples for family in run.registry.collect())
    assert not {sample.name for sample in samples} & set(ALGORITHM_1)
    assert run.value("iln_running_mae") == pytest.approx(
        fmean(abs(step.y_pred - target(step)) for step in run.recorder.steps)
    )


def test_a_scrape_while_the_loop_runs_is_safe() -> None:
    """Prometheus reads from another thread at any time."""
    registry = CollectorRegistry()
    metrics = Metrics(registry, WINDOW)
    learner = ShrinkingGradient(norm_bound=BOUND, step=ETA, draws=16, budget=50, seed=1)
    thread = threading.Thread(
        target=learn,
        args=(learner, small_targets(1500)),
        kwargs={"metrics": metrics, "registry": registry},
    )
    labels = {"model": "iln", "partition": "0"}
    seen: list[float] = []
    thread.start()
    while thread.is_alive():
        generate_latest(registry)
        seen.append(registry.get_sample_value("iln_events_total", labels) or 0.0)
    thread.join()
    assert seen == sorted(seen)
    assert len(set(seen)) > 3, "the scrapes must have fallen into the run"
    assert registry.get_sample_value("iln_events_total", labels) == 1500


def replayed_alpha(steps: list[Step], eta: float = ETA, bound: float = BOUND) -> list[float]:
    """Algorithm 1's lines 4 to 8, where y_pred is E_t."""
    alpha: list[float] = []
    for step in steps:
        if abs(step.y_pred) < 16 * bound:
            alpha.append(eta * (target(step) - step.y_pred))
        else:
            alpha = [each / 4 for each in alpha]
    return alpha


def target(step: Step) -> float:
    assert step.y is not None
    return step.y


def bucket_bounds(registry: CollectorRegistry) -> list[str]:
    samples = chain.from_iterable(family.samples for family in registry.collect())
    return [
        sample.labels["le"]
        for sample in samples
        if sample.name == "iln_step_duration_seconds_bucket"
    ]


class Faulty:
    """A user's learner with a metric that fails."""

    flags = ()

    def __init__(self, *specs: MetricSpec) -> None:
        self._specs = specs

    def report(self, y_pred: float, y: float) -> tuple[None, tuple[str, ...]]:
        return None, ()

    def metrics(self) -> tuple[MetricSpec, ...]:
        return self._specs

    def predict_one(self, x: dict[str, float]) -> float:
        return 0.0


@pytest.mark.parametrize("value", [None, "text"])
def test_a_metric_that_fails_hides_no_other(value: Any, caplog: pytest.LogCaptureFixture) -> None:
    """A failing metric is logged, and the others are scraped."""

    def read() -> Any:
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
        MetricSpec("iln_drift", "gauge", "Another label.", lambda: {"a": 1.0}, "input"),
    ],
)
def test_a_name_that_is_taken(spec: MetricSpec) -> None:
    """A metric whose name is taken is an error that names it."""
    metrics = Metrics(CollectorRegistry())
    source = RiverDatasetSource([], "nothing")
    metrics.watch(InfiniteLayerRegressor(seed=1), source, "ours")
    with pytest.raises(IlnError, match=f"metric {spec.name} of own/0"):
        metrics.watch(Faulty(spec), source, "own")
