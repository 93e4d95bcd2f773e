"""Classes that depend on how the inputs have changed."""

import numpy as np
import pytest

from iln_stream.kernels.columns import ABSENT
from iln_stream.kernels.input_changes import WIDTH, WINDOWS, recent_means
from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.expert import Observation
from iln_stream.learners.infinite_layer.experts.input_changes import MOST_COLUMNS, InputChanges
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory

KEY = np.array([1, 2], np.uint64)


@pytest.mark.parametrize(("n", "lost"), [(0, 0), (3, 0), (40, 0), (100, 20), (100, 62), (100, 64)])
def test_means_of_past_events(n, lost):
    """They are over the events before the n-th that the memory still has, without absent values."""
    values = np.random.default_rng(n).normal(size=(2, n + lost))
    values[1, ::3] = ABSENT
    columns, means = np.full((2, 64), np.nan), np.empty((2, len(WINDOWS)))
    for i in range(n + lost):
        columns[:, i % 64] = values[:, i]
    recent_means(columns, n, lost, means)
    for j in range(2):
        for s, window in enumerate(WINDOWS):
            past = values[j, max(n - window, n + lost - 64, 0) : n]
            past = past[past < ABSENT]
            wanted = past.mean() if len(past) else ABSENT
            assert means[j, s] == pytest.approx(wanted)


@pytest.mark.parametrize("delay", [0, 5])
def test_a_class_for_what_changed(delay):
    """Whether a slow input is above its mean over 16 events is predicted; an event whose label is
    late is learned with the past inputs that it was predicted with."""
    memory = Memory(2048, 0)
    inputs = Inputs(8, memory)
    part, slow, p = InputChanges(inputs, memory, KEY), 0.0, np.empty((2, 2))
    rng, waiting, right = np.random.default_rng(1), [], []
    inputs.admit({"slow": 0.0})
    for each in (memory, part):
        each.widen(1)
    for _ in range(2):
        part.add_class()
    past = [0.0] * 16
    for _ in range(1_500):
        slow = 0.9 * slow + rng.normal()
        label = int(slow > np.mean(past[len(past) - 16 - delay : len(past) - delay]))
        past.append(slow)
        row, event = np.array([slow]), Observation(0, 1)
        inputs.standardise(row, event.row, event.v)
        part.predict(event, p)
        right.append(p[0].argmax() == label)
        waiting.append((row, part._means.copy(), label))
        if len(waiting) > delay:
            row, means, label = waiting.pop(0)
            event.delay = min(delay, memory.n)
            inputs.standardise(row, event.row, event.v)
            part.predict(event, p)
            if memory.n > 2 * delay:
                np.testing.assert_array_equal(part._means, means)
            inputs.join(row, memory.n)
            part.learn(event, label)
            memory.put(event.row, float(label))
    assert np.mean(right[500:]) > 0.95


def test_the_learner_takes_part_in_it():
    """Whether an input rises is predicted, which no input of the event itself shows."""
    rng, model, right, last = np.random.default_rng(2), InfiniteLayerClassifier(seed=1), [], 0.0
    for a in rng.normal(size=500).tolist():
        right.append(model.predict_one({"a": a}) == (a > last))
        model.learn_one({"a": a}, a > last)
        last = a
    assert np.mean(right[250:]) > 0.95  # .8 without changes


def test_time_is_bounded():
    """The changes of the first 32 inputs only are seen."""
    memory = Memory(2048, 0)
    part = InputChanges(Inputs(1_000, memory), memory, KEY)
    for n in (20, 30, 400):
        part.widen(n)
    assert part.ridge.omega.shape[1] == WIDTH * MOST_COLUMNS
