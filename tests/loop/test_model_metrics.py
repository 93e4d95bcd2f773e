"""`ModelMetrics`: counts in batches, reads at any moment, and continues from a saved state."""

import time

import pytest
from river import linear_model
from support.list_source import LIST, ListSource

from iln_stream.loop import Regression, Step
from iln_stream.loop.metrics import DELAYS, SECONDS, ModelMetrics, partition_label
from iln_stream.records import Command, DeadLetter

LETTER = DeadLetter.of("s", 0, 9, b"", "malformed")
COMMAND = Command("list", 0, 2, None, "promote", "linear")


def watched():
    return ModelMetrics(linear_model.LinearRegression(), ListSource([]), "m", Regression(), 10)


def step(seconds=0.0, y=1.0, ended=0.0):
    return Step(LIST, 0, None, None, {}, y, 0.0, 0.5, seconds=seconds, ended=ended)


@pytest.mark.parametrize("n", [1, 99, 100, 101, 250])
def test_counts_are_current(n):
    """Every step is counted when a value is read, however many form a batch."""
    metrics = watched()
    for _ in range(n):
        metrics.on_step(step(seconds=2.0))
    latency, delay = metrics.histograms
    counts = latency.counts
    assert (metrics.scores.n_events, sum(counts), latency.total) == (n, n, 2.0 * n)
    assert counts[SECONDS.index(2.5)] == n
    assert sum(delay.counts) == 0


def test_longer_than_the_last_bucket():
    """A step longer than all buckets counts in the one above them."""
    metrics = watched()
    metrics.on_step(step(seconds=60.0))
    latency, _ = metrics.histograms
    assert latency.counts == [0] * len(SECONDS) + [1]


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


@pytest.mark.parametrize(
    "happens",
    [
        lambda metrics: metrics.on_step(step(ended=time.perf_counter())),
        lambda metrics: metrics.on_dead_letter(LETTER),
        lambda metrics: metrics.on_repeat(LIST, 1),
        lambda metrics: metrics.on_command(COMMAND),
        lambda metrics: metrics.on_idle(),
    ],
    ids=["step", "letter", "repeat", "command", "pause"],
)
def test_progress(happens):
    """Each event, letter, repeat, command and pause is progress; time alone is none."""
    metrics = watched()
    before = metrics.last_progress
    time.sleep(0.05)
    assert metrics.last_progress == pytest.approx(before, abs=0.01)
    happens(metrics)
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
