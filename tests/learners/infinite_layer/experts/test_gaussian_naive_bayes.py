import numpy as np
import pytest

from iln_stream.learners.infinite_layer.expert import Observation
from iln_stream.learners.infinite_layer.experts.gaussian_naive_bayes import GaussianNaiveBayes
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory


def event(*z):
    made = Observation(0, len(z))
    made.v[:] = z
    return made


def predicted(expert, C, *z):
    p = np.zeros(C)
    expert.predict(event(*z), np.full(C, -np.log(C)), p)
    return p


def untaught():
    return GaussianNaiveBayes(Inputs(4), Memory(30, 0))


def taught():
    """Two classes, around 2 and -2 in the first of two columns."""
    expert, rng = untaught(), np.random.default_rng(0)
    expert.widen(2)
    expert.add_class()
    expert.add_class()
    for label in (0, 1) * 20:
        expert.learn(event(2.0 - 4.0 * label + 0.5 * rng.normal(), rng.normal()), label)
    return expert


def test_a_few_events_suffice():
    """Forty events tell two clusters apart; between them it is not sure."""
    expert = taught()
    assert predicted(expert, 2, 2.0, 0.0)[0] > 0.99
    assert predicted(expert, 2, -2.0, 0.0)[1] > 0.99
    assert predicted(expert, 2, 0.0, 0.0) == pytest.approx([0.5, 0.5], abs=0.3)


def test_columns_and_classes_may_come_late():
    """A new column changes nothing at 0, and a new class is first taken to be standard normal."""
    expert = taught()
    before = predicted(expert, 2, 1.0, 0.5)
    expert.widen(1)
    assert predicted(expert, 2, 1.0, 0.5, 0.0) == pytest.approx(before, rel=0.1)
    expert.add_class()
    assert predicted(expert, 3, 0.0, 0.0, 0.0)[2] > predicted(expert, 3, 2.0, 0.0, 0.0)[2]


def test_a_broken_class_is_learned_again_from_the_memory():
    """Of its events there whose labels are known; the other class keeps what it learned."""
    expert = untaught()
    expert.add_class()
    expert.add_class()
    expert.memory.widen(2)
    expert.widen(2)
    for n in range(50):
        a, b = 2.0 - 4.0 * (n % 2) + np.random.default_rng(n).normal(size=2)
        row = expert.inputs.admit({"a": a, "b": b})
        made = event(0.0, 0.0)
        expert.inputs.standardise(row, made.row, made.v)
        expert.inputs.join(row, n)
        expert.memory.put(made.row, n % 2)
        expert.learn(made, n % 2)
    before = expert.state()
    expert.memory.since = 40
    expert.mean[1, 0] = np.nan
    assert expert.heal()
    assert expert.counts.tolist() == [25, 5]
    assert expert.mean[1] == pytest.approx(before["mean"][1], abs=0.4)
    assert (expert.mean[0] == before["mean"][0]).all()
