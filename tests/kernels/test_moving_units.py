import numpy as np
import pytest
from kernels import plain

from iln_stream.kernels.columns import ABSENT, join, no_statistics
from iln_stream.kernels.moving_units import (
    AVERAGE,
    BATCH,
    HUBER,
    MOMENTS,
    RATE,
    WARM_UP,
    WEIGHTS,
    gather,
    move_units,
)
from iln_stream.kernels.networks import descend
from iln_stream.kernels.random import counter_of, fill_uniforms
from iln_stream.kernels.regression_event import join_target

d, n_lags, R, N, n, kept, SEED = 3, 2, 64, 40, 130, 30, 7
L = n_lags + d


def stored(*, weighted=False):
    """A memory of 40 of 130 events, and statistics of their columns and targets.

    The memory has a column of weights if these are wanted.
    """
    rng = np.random.default_rng(0)
    memory = rng.normal(size=(N, L + 1))
    memory[::4, n_lags + 1] = ABSENT
    memory[5, 0], memory[6, L] = 1e9, -1e9
    memory[:, n_lags + 2] = 4.0
    stats, target = no_statistics(d), no_statistics(1)
    columns = [plain.Column() for _ in range(d)]
    for event in memory:
        plain.joined(columns, event[n_lags:L])
        join(event[n_lags:L].copy(), stats, 0)
        join_target(event[L], target, 0)
    if weighted:
        memory = np.column_stack([memory, rng.choice([0.0, 1.0, 8.0], size=N)])
    return memory, stats, target, columns


def drawn():
    """The events of a batch: the newest, and draws among the last that are kept."""
    uniforms = np.empty(BATCH - 1)
    fill_uniforms(np.uint64(SEED), np.uint64(counter_of(n)), BATCH - 1, uniforms)
    return [n - 1, *(n - 1 - int(u * kept) for u in uniforms)]


def batch(memory, columns):
    """Their inputs and scaled targets by the present statistics."""
    scale = plain.scale(memory[:, L])
    V, t = [], []
    for i in drawn():
        lags, x, y = np.split(memory[i % N, : L + 1], [n_lags, L])
        z = [c.deviation(value, c.joined) for c, value in zip(columns, x, strict=True)]
        V.append([3.0 * plain.scaled(lag, scale) for lag in lags] + z)
        t.append(plain.scaled(y[0], scale))
    return np.array(V), np.array(t)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_batch_is_encoded_by_present_statistics(weighted):
    """It has the newest event and draws, with absent, constant and wild values; and ends with 1."""
    memory, stats, target, columns = stored(weighted=weighted)
    rows, t, w = np.empty((BATCH, L + 1), np.float32), np.empty(BATCH), np.empty(BATCH)
    gather(memory, n_lags, stats, target, n, kept, SEED, rows, t, w)
    expected, targets = batch(memory, columns)
    assert rows[:, :L] == pytest.approx(expected, abs=1e-5)
    assert (rows[:, L] == 1.0).all()
    assert t == pytest.approx(targets, abs=1e-9)
    assert w.tolist() == [memory[i % N, L + 1] if weighted else 1.0 for i in drawn()]


@pytest.mark.parametrize("weighted", [False, True])
def test_units_follow_the_gradient_of_the_ridges_loss(weighted):
    """A step is one of Adam by the gradient of the batch's Huber loss; the average follows.

    Each event of the batch counts as its weight.
    """
    memory, stats, target, columns = stored(weighted=weighted)
    rng = np.random.default_rng(1)
    units = np.zeros((4, L + 1, R), np.float32)
    units[[WEIGHTS, AVERAGE]] = np.vstack([rng.normal(size=(L, R)) / 4, rng.random(R)])
    theta = rng.normal(size=80) / 3
    before = units.copy()
    move_units(units, theta, memory, n_lags, stats, target, n, kept, 1.0, SEED)
    omega, b = before[WEIGHTS, :L], before[WEIGHTS, L]
    gradient = np.zeros((L + 1, R))
    weights = [memory[i % N, L + 1] if weighted else 1.0 for i in drawn()]
    for v, t, w in zip(*batch(memory, columns), weights, strict=True):
        output = theta @ plain.features(omega, b, True, np.ones(L), v, 80)
        error = np.clip(3.0 * (output - t), -HUBER, HUBER)
        slopes = w * 3.0 * error * theta[:R] * plain.units(omega, b, True, v)[1] / BATCH
        gradient += np.outer([*v, 1.0], slopes)
    assert 10.0 * units[MOMENTS] == pytest.approx(gradient, rel=1e-3, abs=1e-4)
    by_adam = before.reshape(4, -1)
    own = np.ascontiguousarray(10.0 * units[MOMENTS].reshape(1, -1))
    descend(by_adam, own, 0, own.size, 1.0, RATE / WARM_UP, 0.0)
    assert units[WEIGHTS].ravel() == pytest.approx(by_adam[WEIGHTS], abs=1e-7)
    moved = units[WEIGHTS] - by_adam[AVERAGE].reshape(L + 1, R)
    assert np.abs(moved).max() > 1e-5
    assert units[AVERAGE] - units[WEIGHTS] == pytest.approx(-moved * (1 - 1 / 1.02), abs=1e-6)
