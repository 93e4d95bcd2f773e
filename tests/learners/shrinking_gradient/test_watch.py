"""Diverging runs are reported in time, and other runs never."""

import math
import warnings

import numpy as np
import pytest

from iln_stream.features import DecisionStumps, GaussianFourier
from iln_stream.learners import model_of, state_of
from iln_stream.learners.estimators.pool import Pool
from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler
from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.research.theory import diverging

N = 800


def stream(seed, scale):
    """Four standard normal inputs; a smooth target with a little noise, within +-scale."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, 4))
    y = np.tanh(np.sin(X[:, 0]) + 0.5 * X[:, 1] * np.cos(X[:, 2])) + 0.1 * rng.standard_normal(N)
    y = scale * np.clip(y, -1.0, 1.0)
    return [
        (dict(zip("abcd", row, strict=True)), y_t)
        for row, y_t in zip(X.tolist(), y.tolist(), strict=True)
    ]


def run(model, events):
    """The sums of losses of E_t and of 0 after each event, and the events that warned of diverging.

    The model may be a `ScaledTarget`.
    """
    learner = model if type(model) is ShrinkingGradient else model.regressor["ShrinkingGradient"]
    losses, warned = [], []
    for t, (x, y) in enumerate(events):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.learn_one(x, y)
        warned += [t for w in caught if "the run is diverging" in str(w.message)]
        last = learner.last_update
        losses.append((last.loss, last.y**2 / 2))
    return np.cumsum(losses, axis=0), warned


@pytest.mark.parametrize(
    ("family", "horizon", "scale"),
    [
        (GaussianFourier(), None, 1.0),
        (GaussianFourier(), N, 0.3),
        (DecisionStumps(), N, 1.0),
        (DecisionStumps(), None, 0.3),
    ],
)
def test_a_diverging_run_is_told_in_time_and_once(family, horizon, scale):
    """A run that ends at many times the zero predictor's loss warned at 1.5 times, or at once."""
    model = ShrinkingGradient(family, horizon=horizon, norm_bound=2.0, draws=40, seed=1)
    losses, warned = run(model, stream(1, scale))
    assert losses[-1, 0] > 4 * losses[-1, 1]  # it does diverge
    assert len(warned) == 1
    assert warned[0] <= 10 or losses[warned[0], 0] < 1.5 * losses[warned[0], 1]
    assert model.n_diverging > N / 3


@pytest.mark.parametrize(
    ("parameters", "scale"),
    [
        ({}, 1.0),
        ({"features": DecisionStumps()}, 0.3),
        ({"draws": 5000, "horizon": N}, 1.0),
        ({"norm_bound": 0.5}, 0.3),
        ({"estimator": Pool(64), "step": 0.5}, 1.0),
    ],
)
def test_a_healthy_run_never_warns(parameters, scale):
    """Runs that end well below the zero predictor's loss never warn."""
    model = ShrinkingGradient(**parameters, seed=1)
    losses, warned = run(model, stream(2, scale))
    assert losses[-1, 0] < 0.95 * losses[-1, 1]
    assert warned == []
    assert model.n_diverging == 0


def test_a_scaled_pipeline_never_warns():
    """The default pipeline, whose first targets are scaled by statistics not yet settled."""
    model = ScaledTarget(WinsorisedScaler() | ShrinkingGradient(seed=1))
    events = [({k: 50 + 9 * v for k, v in x.items()}, 1e4 + 70 * y) for x, y in stream(3, 1.0)]
    assert run(model, events)[1] == []


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
@pytest.mark.parametrize("norm_bound", [0.1, 2.0])
def test_it_is_what_theory_calls_diverging(norm_bound):
    """Events are counted by `theory.diverging`, with the root mean square of the targets so far."""
    model = ShrinkingGradient(norm_bound=norm_bound, draws=5, seed=1)
    expected, targets = 0, []
    for x, y in stream(7, 1.0)[:400]:
        alpha_l1 = model.alpha_l1
        model.learn_one(x, y)
        if alpha_l1 > 0:
            targets.append(y)
            rms = math.sqrt(np.mean(np.square(targets)))
            told = diverging(alpha_l1, 3 / 8, 5, norm_bound, rms)
            expected += told and len(targets) >= 10
    assert model.n_diverging == expected > 0


def test_a_pool_has_no_fresh_noise():
    """However large a pool's ||alpha||_1, its value is not a mean of fresh draws."""
    model = ShrinkingGradient(estimator=Pool(8), step=1.0, seed=1)
    run(model, stream(5, 1.0)[:200])
    assert model.noise == 0.0
    assert model.n_diverging == 0


def test_targets_that_are_all_zero():
    """Without a target's size there is nothing to compare noise with."""
    model = ShrinkingGradient(seed=1)
    for x, _ in stream(6, 1.0)[:60]:
        model.learn_one(x, 0.0)
    assert model.n_diverging == 0


def messages(model, n):
    """What a model warns of in its first n events."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for x, y in stream(1, 1.0)[:n]:
            model.learn_one(x, y)
    return [str(w.message) for w in caught if "horizon" in str(w.message)]


@pytest.mark.parametrize(
    ("norm_bound", "horizon", "said"),
    [(1.0, 64, True), (1.0, 65, False), (2.0, 256, True), (2.0, 257, False), (0.5, 500, True)],
)
def test_a_horizon_that_theorem_1_does_not_cover_is_told(norm_bound, horizon, said):
    """Theorem 1 needs B >= 1 and T > 64 B^2; otherwise the first event warns, once."""
    model = ShrinkingGradient(norm_bound=norm_bound, horizon=horizon, draws=20, seed=1)
    found = messages(model, 5)
    assert len(found) == said
    assert all("is not covered by Theorem 1" in each for each in found)


def test_an_event_beyond_the_horizon_is_told_once():
    """The step was chosen for T events; event T + 1 warns, also of a restored learner."""
    model = ShrinkingGradient(horizon=70, draws=20, seed=1)
    assert messages(model, 70) == []
    model = model_of(state_of(model))
    (said,) = messages(model, 5)
    assert said.startswith("event 71 is beyond horizon = 70")


def test_a_step_of_ones_own_has_no_horizon():
    """A given step overrides the horizon's, of which nothing is then said."""
    model = ShrinkingGradient(horizon=10, norm_bound=4.0, step=0.1, draws=20, seed=1)
    assert messages(model, 15) == []
