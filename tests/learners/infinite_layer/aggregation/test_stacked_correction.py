import numpy as np
import pytest
from support.states import same

from iln_stream.learners.infinite_layer.mixing import StackedCorrection
from iln_stream.state import from_bytes, to_bytes


def answers(n, C, seed=0):
    """Two experts who each see a part of the evidence, and the class that both parts decide."""
    rng = np.random.default_rng(seed)
    parts = rng.normal(size=(n, 2, C))
    truth = np.exp(parts.sum(axis=1))
    truth /= truth.sum(axis=1, keepdims=True)
    labels = np.array([rng.choice(C, p=p) for p in truth])
    raised = np.exp(parts)
    return raised / raised.sum(axis=2, keepdims=True), truth, labels


def taught(correction, experts, labels):
    """The correction's answers; what it corrects knows nothing."""
    found = np.zeros((len(labels), experts.shape[2]))
    for p, label, q in zip(experts, labels, found, strict=True):
        correction.correct(p, np.full(len(q), 1 / len(q)), q)
        correction.learn(q, label)
    return found


@pytest.mark.parametrize("C", [2, 4])
def test_adds_up_independent_evidence(C):
    """A mean of two experts is less sure than both together may be; the correction's loss is nearer
    to that of the truth by nine tenths.
    """
    experts, truth, labels = answers(4_000, C)
    found = taught(StackedCorrection([0, 1]), experts, labels)
    mean, late = experts.mean(axis=1), slice(1_000, None)

    def loss(p):
        return -np.log(p[np.arange(len(labels)), labels])[late].mean()

    assert loss(found) < loss(truth) + 0.1 * (loss(mean) - loss(truth))


def test_starts_as_the_mixture():
    """Before anything is learned the mixture is returned, but for a class's least share."""
    p, q = answers(1, 3)[0][0], np.zeros(3)
    StackedCorrection([0, 1]).correct(p, p.mean(axis=0), q)
    assert q == pytest.approx(p.mean(axis=0), abs=1e-4)


def test_more_classes_come():
    """The powers stay; they are of the experts, not of the classes."""
    correction = StackedCorrection([0, 1])
    taught(correction, *answers(500, 2)[::2])
    before = correction.weights.copy()
    p, q = answers(1, 3)[0][0], np.zeros(3)
    correction.correct(p, p.mean(axis=0), q)
    assert q.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(correction.weights, before)


def test_goes_on_bit_for_bit():
    """From its state, through bytes."""
    experts, _, labels = answers(600, 3)
    one, twin = StackedCorrection([0, 1]), StackedCorrection([0, 1])
    taught(one, experts[:300], labels[:300])
    twin.restore(from_bytes(to_bytes(one.state())))
    later = experts[300:], labels[300:]
    assert (taught(one, *later) == taught(twin, *later)).all()
    assert same(one.state(), twin.state())
