"""Trees that grow, apart from the learner that has them."""

import numpy as np

from iln_stream.learners.infinite_layer.experts.class_trees import (
    MOST_CLASSES,
    N_NODES,
    N_ROWS,
    ClassTrees,
)
from iln_stream.learners.infinite_layer.memory import Memory


def grown(n_classes, n_columns):
    memory = Memory(8, 0)
    trees = ClassTrees(memory, np.uint64(3))
    trees.widen(n_columns)
    for _ in range(n_classes):
        trees.add_class()
    return memory, trees


def learned(n, n_columns, label_of, seed=0):
    """Trees that learned n events of two classes, and how often they predicted these."""
    memory, trees = grown(2, n_columns)
    right, p = [], np.empty(2)
    for v in np.random.default_rng(seed).normal(size=(n, n_columns)):
        label = int(label_of(v))
        trees.predict(v, p)
        right.append(p[label] > 0.5)
        memory.put(np.zeros(0), float(label))
        trees.learn(v, label, 1.0)
    return trees, np.array(right)


def test_thresholds_are_found():
    """A class that depends on two thresholds is predicted, though no single one explains it."""
    _, right = learned(3_000, 4, lambda v: (v[0] > 0.3) != (v[2] > -0.5))
    assert right[2_000:].mean() > 0.9


def test_probabilities_are_those_of_the_nodes():
    """A node's are its counts, and its parent's as one event more; the frozen ones are these."""
    trees, _ = learned(600, 3, lambda v: v[1] > 0.2)
    form, p = trees.frozen(2), np.empty(2)
    for v in np.random.default_rng(5).normal(size=(20, 3)):
        total = np.zeros(2)
        for t, left in enumerate(trees.left):
            q, at = np.full(2, 0.5), 0
            while True:
                seen = trees.counts[t, at].astype(float)
                q = (seen + q) / (seen.sum() + 1.0)
                if not left[at]:
                    break
                at = left[at] + int(v[trees.feature[t, at]] > trees.threshold[t, at])
            np.testing.assert_allclose(form["p"][t, at], q)
            total += q / len(trees.left)
        trees.predict(v, p)
        np.testing.assert_allclose(p, total)


def test_memory_is_bounded():
    """A tree that is full begins anew, after more events than it remembers; an event is in one
    child of each node that it came through."""
    trees, _ = learned(6 * N_ROWS, 2, lambda v: np.sin(9 * v[0]) * np.sin(9 * v[1]) > 0.0)
    assert trees.n_nodes.max() <= N_NODES
    assert (trees.counts[:, 0].sum(axis=1) < 6 * N_ROWS).any()
    for t, v in zip(*np.nonzero(trees.left), strict=True):
        first = trees.left[t, v]
        assert v < first < trees.n_nodes[t]
        assert (trees.counts[t, first : first + 2].sum(axis=0) <= trees.counts[t, v]).all()


def test_what_is_not_counted():
    """Events of weight 0 and classes beyond the first 64 change nothing."""
    memory, trees = grown(MOST_CLASSES + 1, 1)
    memory.put(np.zeros(0), 0.0)
    before = trees.state()
    trees.learn(np.zeros(1), 0, 0.0)
    trees.learn(np.zeros(1), MOST_CLASSES, 1.0)
    for name, value in trees.state().items():
        np.testing.assert_array_equal(value, before[name])
    p = np.empty(MOST_CLASSES + 1)
    trees.predict(np.zeros(1), p)
    np.testing.assert_allclose(p, 1 / len(p))
