"""The frozen network against the model from which it was made."""

import math

import numpy as np
import pytest
from river import linear_model, preprocessing
from support.prequential import learned

from iln_stream import features
from iln_stream.features import closed_form
from iln_stream.learners.estimators.pool import Pool
from iln_stream.learners.frozen.freezing import freeze
from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler
from iln_stream.learners.shrinking_gradient import ShrinkingGradient

pytestmark = pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")

FREEZABLE = [
    features.GaussianFourier(),
    features.LaplacianFourier(),
    features.CauchyFourier(gamma=0.3),
    features.Erf(),
    features.ArcCosine(),
    features.ArcCosine(radius=0.7),
    features.Mixture.of_bandwidths((0.1, 3.0)),
]


def events(n, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        a, b, c = rng.normal(size=3)
        yield ({"a": 20 + 3 * a, "b": 0.01 * b, "c": c}, 50 + 10 * math.tanh(a - b) + rng.normal())


def f(model, row):
    """The learned function itself, from the kernel."""
    support = model.iterate.support
    kernel = closed_form(model.features or features.GaussianFourier())
    return float(support.alpha @ kernel(support.rows(len(row)), row))


@pytest.mark.parametrize("family", FREEZABLE)
@pytest.mark.parametrize("budget", [None, 50])
def test_the_network_is_f_within_its_standard_error(family, budget):
    """Over independent freezings the values scatter about f by the reported standard error."""
    model = ShrinkingGradient(family, budget=budget, step=0.2, draws=200, seed=1)
    rng = np.random.default_rng(3)
    for _ in range(150):
        a, b = rng.normal(size=2)
        model.learn_one({"a": a, "b": b}, math.tanh(a - b))
    x = {"a": 0.4, "b": -0.8}
    exact = f(model, np.array([0.4, -0.8]))
    networks = [freeze(model, size=64, seed=seed, points=[x]) for seed in range(100)]
    z = [(net.predict_one(x) - exact) / net.standard_error for net in networks]
    # 100 values, nearly normal: mean within 5 / 10, variance within 5 sqrt(2 / 100) of 1.
    assert abs(np.mean(z)) < 0.5
    assert 0.29 < np.var(z) < 1.71
    big = freeze(model, size=20_000, points=[x])
    assert abs(big.predict_one(x) - exact) < 5 * big.standard_error
    assert big.standard_error < networks[0].standard_error / 10


def test_the_whole_pipeline_is_frozen():
    """From raw inputs to the label's units: scaled, clipped and unscaled as in the pipeline."""
    model = learned(ScaledTarget(WinsorisedScaler() | ShrinkingGradient(seed=1)), events(400))
    network = freeze(model, size=8192)
    learner = model.regressor["ShrinkingGradient"]
    scaler = model.regressor["WinsorisedScaler"]
    far = {"a": 1e9, "b": 0.0, "c": -1e308}
    absent = {"c": 0.5, "unheard of": 3.0}
    for x in [*(x for x, _ in events(20, seed=9)), far, absent, {}]:
        row = []
        for name in learner.input_names:
            moments = scaler.moments(name)
            z = (x[name] - moments.mean) / moments.sd if name in x else 0.0
            row.append(max(-5.0, min(z, 5.0)))
        p = max(-1.0, min(f(learner, np.array(row)), 1.0))
        expected = model.moments.mean + 3 * model.moments.sd * p
        assert abs(network.predict_one(x) - expected) < 6 * network.standard_error
    assert 0 < network.standard_error < 0.2 * model.moments.sd


def test_the_network_predicts_as_the_model_does():
    """On fresh events it is at least as close to the labels as the model: it has no fresh noise."""
    model = learned(ScaledTarget(WinsorisedScaler() | ShrinkingGradient(seed=1)), events(1000))
    network = freeze(model, size=8192)
    fresh = list(events(300, seed=5))
    mine = np.mean([abs(network.predict_one(x) - y) for x, y in fresh])
    its = np.mean([abs(model.predict_one(x) - y) for x, y in fresh])
    zero = np.mean([abs(model.moments.mean - y) for _, y in fresh])
    assert mine < 1.02 * its < zero


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_pool_is_frozen_as_it_is(wrapped):
    """A pool's network is the pool: no error, and its predictions to single precision."""
    learner = ShrinkingGradient(estimator=Pool(100), step=0.5, seed=1)
    model = ScaledTarget(WinsorisedScaler() | learner) if wrapped else learner
    for x, y in events(500):
        model.learn_one(x if wrapped else {"a": x["c"], "b": 100 * x["b"]}, y if wrapped else 0.3)
    network = freeze(model)
    assert network.standard_error == 0.0
    assert network.omega.shape == (100, 3 if wrapped else 2)
    if wrapped:  # as if the scaler did not include the event itself
        for x, _ in events(20, seed=7):
            z = network.scaled(np.array([[x[name] for name in network.names]]))[0]
            p = learner.predict_one(dict(zip(network.names, z, strict=True)))
            expected = network.offset + network.gain * max(-1.0, min(p, 1.0))
            assert network.predict_one(x) == pytest.approx(expected, rel=1e-5)
    else:
        for x in ({"a": 0.3, "b": 1.0}, {"b": -2.0}, {}):
            assert network.predict_one(x) == pytest.approx(model.predict_one(x), abs=1e-4)
    with pytest.raises(ValueError, match="size = 64 is not the pool's, 100"):
        freeze(model, size=64)


def test_a_constant_input_stays_silent():
    """An input that never varied is always 0 for the pipeline, and for the network."""
    model = ScaledTarget(WinsorisedScaler() | ShrinkingGradient(seed=1))
    for x, y in events(50):
        model.learn_one(x | {"constant": 4.0}, y)
    network = freeze(model, size=64)
    x = {"a": 20.0, "b": 0.0, "c": 1.0}
    assert network.predict_one(x | {"constant": 1e6}) == network.predict_one(x)


def test_the_average_is_frozen():
    """average=True freezes f_S, which is not f."""
    family = features.GaussianFourier(gamma=0.5)
    model = ShrinkingGradient(family, "averaged", draws=300, seed=1)
    for t in range(200):
        model.learn_one({"a": math.sin(t)}, 0.8 if t < 120 else -0.8)
    average = model.iterate.average().support
    row = np.array([0.4])
    f_S = float(average.alpha @ family.kernel(average.rows(1), row))
    network = freeze(model, size=20_000, average=True)
    assert abs(network.predict_one({"a": 0.4}) - f_S) < 6 * network.standard_error
    f_t = freeze(model, size=20_000).predict_one({"a": 0.4})
    assert abs(f_t - f_S) > 20 * network.standard_error


def test_the_same_seed_the_same_network():
    """Freezing is a function of model and seed, and changes nothing in the model."""
    model = learned(ShrinkingGradient(seed=1), events(20))
    before = model.state()["last"]
    a, b, c = (freeze(model, size=32, seed=seed) for seed in (1, 1, 2))
    assert a.omega.tolist() == b.omega.tolist() != c.omega.tolist()
    assert a.standard_error == b.standard_error
    assert model.state()["last"] == before


def test_points_tell_the_error_where_they_are():
    """The standard error is that at the given raw inputs; by default that at recent events."""
    model = learned(ScaledTarget(WinsorisedScaler() | ShrinkingGradient(seed=1)), events(400))
    here = freeze(model, size=256, points=[x for x, _ in events(100, seed=4)]).standard_error
    default = freeze(model, size=256).standard_error
    assert 0.7 < here / default < 1.4


class Squared(features.AffineFeatures):
    """Ridges of x^2, not of x."""

    activation = "tanh"
    q = 1.0

    def draw(self, n, d, rng):
        return features.AffineWeights(rng.standard_normal((n, d)), np.zeros(n))

    def inputs(self, x):
        return x**2


NOT_RIDGES = r"can't be frozen: .*GaussianFourier.*ArcCosine"
DIFFERENT = "can't be frozen: its components have different units.*bandwidths"


@pytest.mark.parametrize(
    ("family", "message"),
    [
        (features.DecisionStumps(), NOT_RIDGES),
        (features.UniformCoordinates(), NOT_RIDGES),
        (features.RandomNetwork(), NOT_RIDGES),
        (Squared(), NOT_RIDGES),
        (features.Mixture((features.Erf(), features.DecisionStumps())), NOT_RIDGES),
        (features.Mixture((features.Erf(), features.Tanh())), DIFFERENT),
        (features.Mixture((features.ArcCosine(1.0), features.ArcCosine(2.0))), DIFFERENT),
    ],
)
def test_families_that_can_not_be_frozen(family, message):
    """Units that are not ridges of one activation and one radius raise; the message says which can
    be frozen."""
    model = learned(ShrinkingGradient(family, draws=20, seed=1), events(10))
    with pytest.raises(ValueError, match=message):
        freeze(model)


@pytest.mark.parametrize(
    "model",
    [
        linear_model.LinearRegression(),
        preprocessing.StandardScaler() | ShrinkingGradient(),
        WinsorisedScaler() | (WinsorisedScaler() | ShrinkingGradient()),
        ScaledTarget(linear_model.LinearRegression()),
        ScaledTarget(ScaledTarget(ShrinkingGradient())),
    ],
)
def test_models_that_can_not_be_frozen(model):
    """A model with other parts raises an error that names the unsupported part."""
    with pytest.raises(ValueError, match=r"^\w+ can't be frozen: freeze takes a ShrinkingGrad"):
        freeze(model)


@pytest.mark.parametrize("size", [1, 0, 2.5])
def test_sizes_that_tell_no_error(size):
    """A network has at least two units, else its error could not be estimated."""
    with pytest.raises(ValueError, match=f"size = {size} must be a whole number"):
        freeze(learned(ShrinkingGradient(seed=1), events(5)), size)


def test_nothing_learned_nothing_frozen():
    """A new model has no columns yet: the error says so."""
    with pytest.raises(ValueError, match="has learned nothing yet"):
        freeze(ShrinkingGradient())
