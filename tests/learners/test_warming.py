"""What `iln-stream warm` compiles, and for which learners."""

import subprocess
import sys

import pytest
from river import linear_model, preprocessing

from iln_stream.learners import (
    InfiniteLayerClassifier,
    InfiniteLayerRegressor,
    RandomFeatureRidge,
    ScaledTarget,
    ShrinkingGradient,
    WinsorisedScaler,
)
from iln_stream.learners.warming import PARTS, PUBLIC, _keep, exercise, public_name


@pytest.mark.parametrize(
    ("learner", "name"),
    [
        (InfiniteLayerRegressor(), "accurate"),
        (preprocessing.StandardScaler() | InfiniteLayerRegressor("fast"), "fast"),
        (InfiniteLayerClassifier(profile="fast"), "classifier"),
        (RandomFeatureRidge(), "random-feature-ridge"),
        (ScaledTarget(WinsorisedScaler() | ShrinkingGradient()), "shrinking-gradient"),
        (linear_model.LinearRegression(), None),
    ],
)
def test_name_of_a_learner(learner, name):
    """A run compiles what its own learner needs, and nothing for a learner of others."""
    assert public_name(learner) == name
    assert name is None or name in PUBLIC


@pytest.mark.parametrize("part", PARTS["accurate"])
def test_parts_share_the_experts(part):
    """One process compiles what the networks need, and the other what the ridges do."""
    learner = InfiniteLayerRegressor(seed=1)
    _keep(learner, part)
    for t in range(20):
        learner.learn_one({"a": float(t % 7)}, float(t % 3))
    engine = learner._engine
    assert (engine.networks.ring.n > 0) == (part == "networks")
    assert engine.ridges.bank.theta.any() == (part == "others")


@pytest.mark.parametrize("part", PARTS["fast"])
def test_parts_of_fast_share_its_functions(part):
    """One process compiles the function that learns, and the other what predicts and forecasts."""
    code = (
        "from iln_stream.kernels.fast import learn_event, learn_forecasts, predict_event\n"
        "from iln_stream.learners.warming import exercise\n"
        f"exercise('fast', {part!r})\n"
        "print(*(len(f.signatures) for f in (learn_event, learn_forecasts, predict_event)))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert printed.stdout.split() == (["1", "0", "0"] if part == "learning" else ["0", "1", "1"])


def test_what_a_scrape_or_a_scaler_needs_is_compiled():
    """Also what only resting ridges or the service's pipelines call."""
    from iln_stream.kernels.columns import join_value
    from iln_stream.kernels.network_events import sensitivity

    exercise("accurate")
    exercise("shrinking-gradient")
    assert sensitivity.signatures
    assert join_value.signatures
