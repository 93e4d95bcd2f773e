import numpy as np

from iln_stream.learners.infinite_layer.expert import Expert, Observation, allocate_predictions


class Two(Expert):
    """An expert with two predictions, which learns nothing."""

    names = ("two", "three")

    def predict(self, event, p):
        p[:] = 2.0, 3.0


class One(Expert):
    names = ("one",)

    def predict(self, event, p):
        p[0] = 1.0


def test_each_expert_has_its_place_among_the_predictions():
    """The places follow the experts' order and sizes, and cover the array."""
    experts, event = [One(), Two(), One()], Observation(0, 1)
    p, places = allocate_predictions(experts)
    for expert, place in zip(experts, places, strict=True):
        expert.predict(event, p[place])
    assert p.tolist() == [1.0, 2.0, 3.0, 1.0]


def test_only_predicting_has_to_be_written():
    """By default an expert needs no room, learns nothing and keeps nothing."""
    expert = Two()
    expert.widen(3)
    expert.learn(Observation(0, 3), 1.0, np.zeros(2))
    assert expert.state() == {}
