"""`Scores` and `Window`: means stay exact on long streams."""

import math
import random
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.list_source import LIST

from iln_stream.loop import RegressionScores, Step
from iln_stream.loop.scores import Window
from iln_stream.reporting import FlagSpec

SHRUNK = FlagSpec("shrunk", "iln_shrink_frequency", "Shrinks.")

numbers = st.floats(-1e100, 1e100)


def step(y, y_pred, loss, shrunk=False):
    return Step(LIST, 0, None, None, {}, y, y_pred, loss, ("shrunk",) if shrunk else ())


@given(st.integers(1, 20), st.lists(numbers, max_size=60))
def test_window_is_the_mean_of_the_latest(size, values):
    """The window's mean is always the mean of the last `size` values, as numpy computes it."""
    window = Window(size)
    assert math.isnan(window.mean)
    for n, value in enumerate(values, start=1):
        window.extend([value])
        latest = values[max(0, n - size) : n]
        assert window.mean == pytest.approx(
            np.mean(latest), rel=1e-9, abs=1e-12 * max(map(abs, latest))
        )


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


@pytest.mark.parametrize("saved", [3, 20])
def test_window_of_another_size(saved):
    """A window that is restored from a shorter or a longer one has the latest values."""
    window = Window(10)
    window.refill([float(i) for i in range(saved)], 97)
    kept = list(range(saved))[-10:]
    assert window.values() == kept
    assert window.mean == np.mean(kept)


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


@pytest.mark.parametrize("window", [0, -5])
def test_window_needs_an_event(window):
    """A window below 1 event is refused, and the error has its value."""
    with pytest.raises(ValueError, match=f"window = {window} must be at least 1"):
        RegressionScores(window, [SHRUNK])


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
