import numpy as np

from iln_stream.learners.infinite_layer.engine.engine import random_key
from iln_stream.learners.infinite_layer.profiles.accurate import Accurate


def growing(seed):
    """A population that grows sixfold as a whole, in which each keeps its rank."""
    rng = np.random.default_rng(seed)
    places = rng.permutation(np.linspace(0.5, 1.5, 25))
    for day in range(1, 21):
        for who, place in enumerate(places):
            yield {"day": day, "who": who}, place * 1.1**day


def test_nearest_as_of_knows_who_was_large_before():
    """In a growing population `nearest-as-of` gets weight, and lowers the error."""
    engine, without = (Accurate(256, random_key(1)) for _ in range(2))
    errors = np.zeros(2)
    for n, (x, y) in enumerate(growing(0)):
        without.mixture.experts["neighbours"].scaled[:] = 0.0  # all were average for their time
        if n > 200:
            errors += abs(engine.predict(x) - y), abs(without.predict(x) - y)
        engine.learn(x, y)
        without.learn(x, y)
    assert engine.expert_weights()["nearest-as-of"] > 0.2
    assert errors[0] < 0.9 * errors[1]
