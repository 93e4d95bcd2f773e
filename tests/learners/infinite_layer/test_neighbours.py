import numpy as np

from iln_stream import InfiniteLayerRegressor


def growing(seed):
    """A population that grows sixfold as a whole, in which each keeps its rank."""
    rng = np.random.default_rng(seed)
    places = rng.permutation(np.linspace(0.5, 1.5, 25))
    for day in range(1, 21):
        for who, place in enumerate(places):
            yield {"day": day, "who": who}, place * 1.1**day


def test_standing_knows_who_was_large_before():
    """In a growing population the expert `standing` gets the weight, and lowers the error."""
    model, without = InfiniteLayerRegressor(seed=1), InfiniteLayerRegressor(seed=1)
    errors = np.zeros(2)
    for n, (x, y) in enumerate(growing(0)):
        without._engine.neighbours.standing[:] = 1e6  # nobody is like anybody
        without._engine.neighbours.standing_t[:] = 0.0
        if n > 200:
            errors += abs(model.predict_one(x) - y), abs(without.predict_one(x) - y)
        model.learn_one(x, y)
        without.learn_one(x, y)
    assert model.expert_weights["standing"] > 0.2
    assert errors[0] < 0.9 * errors[1]
