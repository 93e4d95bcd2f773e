import math

import numpy as np
import pytest
from kernels import plain
from support.prequential import errors

from iln_stream.learners.infinite_layer.random_feature_ridge import (
    RandomFeatureRidge,
    features_wanted,
)


def waves(n, seed, d=6):
    """A stream in which one input of d matters, nonlinearly."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(n, d))
    y = np.sin(3.0 * X[:, 0]) + 0.05 * rng.normal(size=n)
    return [dict(zip("abcdef"[:d], row, strict=True)) for row in X.tolist()], y.tolist()


def noisy_waves(n):
    """Events with one input that matters; a few targets are wild."""
    for i, row in enumerate(np.random.default_rng(0).normal(size=(n, 2)).tolist()):
        wild = 30.0 if i % 40 == 39 else 0.0
        yield dict(zip("ab", row, strict=True)), 5.0 + np.sin(2.0 * row[0]) + wild


@pytest.mark.parametrize(("forgetting", "huber"), [(1.0, 1e9), (1.0, 2.0), (0.98, 2.0)])
def test_is_the_ridge_regression_of_its_description(forgetting, huber):
    """Each prediction is that of the normal equations of all events so far, with the penalty, the
    Huber weights and the forgetting asked for.
    """
    model = RandomFeatureRidge(16, 0.5, forgetting, huber, sampling="prior", seed=1)
    events, reference = plain.Events(2, n_lags=0), None
    for x, y in noisy_waves(150):
        events.describe(list(x.values()))
        center, unit = events.scale
        prediction = model.predict_one(x)
        model.learn_one(x, y)
        bank = model._engine.ridges.bank
        D = bank.theta.shape[-1]
        phi = plain.features(bank.omega[0], bank.b[0], True, np.ones(2), events.v, D)
        if reference is None:  # the first event draws the units
            reference, p = plain.Normal(D, forgetting, 0.5, huber), 0.0
        else:
            p = float(np.clip(phi @ reference.theta[:, 0], -2.0, 2.0))
            assert prediction == pytest.approx(center + unit * p, rel=1e-4, abs=1e-4)
        reference.learn(phi, events.join(list(x.values()), y), p)


def test_gradients_find_the_input_that_matters():
    """Units drawn by the gradients halve the error of units drawn from the prior."""
    xs, ys = waves(1_500, 0)
    gradient, prior = (
        errors(RandomFeatureRidge(sampling=sampling, seed=1), zip(xs, ys, strict=True))[750:].mean()
        for sampling in ("gradient", "prior")
    )
    assert gradient < 0.5 * prior


def test_forgetting_follows_drift():
    """After the target turns over, a ridge that forgets errs less than one that does not."""
    xs, ys = waves(2_000, 0, d=1)
    ys = ys[:1_000] + [-y for y in ys[1_000:]]
    kept, forgetful = (
        errors(
            RandomFeatureRidge(64, forgetting=f, huber=10.0, sampling="prior", seed=1),
            zip(xs, ys, strict=True),
        )[1_200:].mean()
        for f in (1.0, 0.99)
    )
    assert forgetful < 0.5 * kept


@pytest.mark.parametrize(
    "parameter",
    [
        {"n_features": 0},
        {"regularization": 0.0},
        {"forgetting": 1.5},
        {"huber": math.nan},
        {"activation": "step"},
        {"bandwidth": -1.0},
        {"sampling": "leverage"},
        {"max_columns": 0},
    ],
)
def test_parameters_are_checked(parameter):
    """An invalid parameter is rejected by name."""
    with pytest.raises(ValueError, match=f"^{next(iter(parameter))} = "):
        RandomFeatureRidge(**parameter)


def test_features_wanted_is_checked():
    """A stream has at least one event."""
    with pytest.raises(ValueError, match="n_events = 0"):
        features_wanted(0)


@pytest.mark.parametrize(("level", "scale"), [(1e6, 1.0), (0.0, 0.01)])
def test_a_target_that_moves_is_followed(level, scale):
    """300 events after a change of the target's level or scale, the error is the old one in units
    of the scale, to half; and a redraw due soon after it does not bring the old level back.
    """
    xs, ys = waves(1_600, 2)
    ys = ys[:1_000] + [level + scale * y for y in ys[1_000:]]
    found = errors(RandomFeatureRidge(64, seed=1), zip(xs, ys, strict=True))
    assert found[1_300:].mean() < 1.5 * scale * found[:1_000].mean()
