"""Forecasts outside of the clip, as parts of the learners."""

import copy

import numpy as np
import pytest
from support.prequential import errors

from iln_stream.learners import model_of, state_of
from iln_stream.learners.infinite_layer.plain_forecasts import NAMES, WAITING
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.loop.task import LARGEST_LABEL
from iln_stream.state import from_bytes, to_bytes

PROFILES = ["fast", "accurate"]

NEVER = 1e9
"""So many events are learned before the forecasts count."""


def line(n):
    rng = np.random.default_rng(0)
    return [({"a": float(t)}, 2.0 * t + 0.1 * float(rng.normal())) for t in range(n)]


def bursts(n):
    """Ten events in a hundred lie far beyond what 6 sd reach."""
    rng = np.random.default_rng(0)
    return [({}, 10.0 + 490.0 * (t % 100 >= 90) + float(rng.normal())) for t in range(n)]


def weekly(n):
    """A season that no input tells."""
    rng = np.random.default_rng(0)
    shape = 10.0 * rng.normal(size=168)
    return [({}, float(shape[t % 168] + 0.3 * rng.normal())) for t in range(n)]


def thirty(n):
    rng = np.random.default_rng(1)
    X, beta = rng.normal(size=(n, 5)), rng.normal(size=5)
    return [(dict(zip("abcde", x, strict=True)), float(x @ beta)) for x in X.tolist()]


def of_many_scales(n):
    """Inputs whose first values lie closer together than later ones."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 6)) * np.exp(rng.normal(size=6))
    X[:2] *= 0.1
    y = X @ rng.normal(size=6)
    return [
        (dict(zip("abcdef", x, strict=True)), float(t)) for x, t in zip(X.tolist(), y, strict=True)
    ]


def hours(n):
    """The hour of the day as a number, at random times."""
    rng = np.random.default_rng(0)
    hour, effect = rng.integers(0, 24, n), 3.0 * rng.normal(size=24)
    y = effect[hour] + 0.3 * rng.normal(size=n)
    return [({"hour": float(h)}, float(t)) for h, t in zip(hour, y, strict=True)]


def walk(n):
    y = np.cumsum(np.random.default_rng(0).normal(size=n)).tolist()
    return [({}, each) for each in y]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    ("events", "first", "most"),
    [
        (line(400), 100, 0.15),  # noise .1, of which the mean |error| is .08
        (bursts(1_000), 200, 25.0),  # one of 490 at each end of a burst: 9.8 for the last value
        (weekly(900), 400, 0.8),
        (thirty(30), 15, 0.3),
        (of_many_scales(30), 15, 0.25),
        (hours(1_000), 300, 0.45),  # noise .3, of which the mean |error| is .24
        (walk(400), 20, 0.85),  # .80 for the last value
    ],
    ids=["line", "bursts", "weekly", "thirty", "scales", "hours", "walk"],
)
def test_what_simple_forecasts_can_do_the_learner_can(profile, events, first, most):
    """Growth beyond the range so far, bursts, seasons, thirty rows, random walks."""
    model = InfiniteLayerRegressor(profile, seed=1)
    assert errors(model, events)[first:].mean() < most
    weights = model.expert_weights
    assert sum(weights.values()) == pytest.approx(1.0)
    assert sum(weights[name] for name in NAMES) > 0.3


def dangers(kind, n=1_200):
    """Events, and which of them are ordinary."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = 20.0 + 3.0 * np.sin(X[:, 0]) + 2.0 * X[:, 1] + 0.5 * rng.normal(size=n)
    at, name, *size = np.arange(130, n, 110), *kind.split()
    ordinary = np.ones(n, bool)
    for k in range({"isolated": 1, "double": 2}.get(name, 0)):
        y[at + k] = float(size[0]) * (-1.0) ** np.arange(len(at))
        ordinary[at + k] = False
    if name == "input":
        X[at, 1] = 1e12
    elif name == "heavy":
        y = 20.0 + 2.0 * X[:, 1] + rng.standard_cauchy(n)
        ordinary = np.abs(y - 20.0) < 10.0
    elif name == "shift":
        y += 300.0 * (np.arange(n) // 200 % 2)
    elif name == "square":
        y = np.where(np.arange(n) // 40 % 2, 1000.0, 0.0) + X[:, 1]
    elif name == "constant":
        y[:] = 7.0
    names = ("a", "b")
    rows = [dict(zip(names, x, strict=True)) for x in X.tolist()]
    return list(zip(rows, y.tolist(), strict=True)), ordinary


@pytest.mark.parametrize(
    ("kind", "most"),
    [
        *((f"{name} {size}", 1.02) for name in ("isolated",) for size in ("50", "1e6", "1e300")),
        *((f"double {size}", 1.1) for size in ("1e6", "1e300")),
        *(("input", 1.02), ("heavy", 1.02), ("shift", 0.5), ("square", 0.5), ("constant", 1.0)),
    ],
)
def test_dangers(kind, most):
    """The error on the other events is about as without these forecasts, or less."""
    events, ordinary = dangers(kind)
    means = []
    for counts_from in (0, NEVER):
        model = InfiniteLayerRegressor("fast", seed=1)
        model._engine.plain.record[-1] = counts_from
        means.append(errors(model, events)[ordinary].mean())
    assert means[0] <= most * means[1]


@pytest.mark.parametrize("profile", PROFILES)
def test_the_scale_recovers(profile):
    """A hundred events after two labels of 1e150, errors are about as without them."""
    events, _ = dangers("none", 800)
    spoilt = [*events]
    spoilt[300:302] = [({}, 9e149), ({}, -9e149)]
    means = [
        errors(InfiniteLayerRegressor(profile, seed=1), each)[400:].mean()
        for each in (spoilt, events)
    ]
    assert means[0] < 1.25 * means[1]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("largest", [1e12, 1e18, 0.99 * LARGEST_LABEL])
def test_the_scale_recovers_from_growth(largest, profile):
    """500 events after labels that grew up to a run's bound, errors are below the labels' size."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1_100, 2))
    y = 5.0 + 3.0 * X[:, 0] - 2.0 * X[:, 1] + rng.normal(0.0, 0.1, len(X))
    X[300:600], y[300:600] = 0.5, largest ** (np.arange(300) / 299)
    events = [({"a": a, "b": b}, float(label)) for (a, b), label in zip(X, y, strict=True)]
    found = errors(InfiniteLayerRegressor(profile, seed=1), events)
    assert np.median(found[1_000:]) < 0.5 * y[:300].std()


@pytest.mark.thorough
@pytest.mark.parametrize(
    "growth",
    [
        1e6 ** (np.arange(200) / 200),
        1e12 ** (np.arange(200) / 200),
        10.0 ** (np.arange(200) // 32),
        1.0 + 5_000.0 * np.arange(200),
        np.full(200, 1e6),
    ],
    ids=["smooth", "a million times further", "in steps", "linear", "at once"],
)
def test_labels_that_grow_and_come_back(growth):
    """500 events after labels a million times as large, or more, errors are less than 2.5 times
    as large, in the median of eight streams."""
    ratios = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(2_200, 5))
        y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=len(X))
        spoilt = y.copy()
        spoilt[1_000:1_200] *= growth
        rows = [dict(zip("abcde", x, strict=True)) for x in X.tolist()]
        means = [
            errors(InfiniteLayerRegressor("fast", seed=1), zip(rows, each.tolist(), strict=True))[
                1_700:
            ].mean()
            for each in (spoilt, y)
        ]
        ratios.append(means[0] / means[1])
    assert np.median(ratios) < 2.5


@pytest.mark.parametrize("profile", PROFILES)
def test_copies_and_restored_learners_go_on_bit_for_bit(profile):
    """Also where columns came meanwhile; and copies share no array."""
    model = InfiniteLayerRegressor(profile, seed=1)
    errors(model, weekly(60) + line(60))
    copies = [copy.deepcopy(model), model_of(from_bytes(to_bytes(state_of(model))))]
    assert copies[0].expert_weights == copies[1].expert_weights == model.expert_weights
    later = thirty(40)
    expected = errors(model, later)
    for each in copies:
        assert errors(each, later).tolist() == expected.tolist()
        assert to_bytes(state_of(each)) == to_bytes(state_of(model))


@pytest.mark.parametrize("profile", PROFILES)
def test_a_learner_of_an_older_state_predicts_as_before_for_a_while(profile):
    """Its forecasts learn at first, and count from the hundredth event on."""
    without = InfiniteLayerRegressor(profile, seed=1)
    without._engine.plain.record[-1] = NEVER
    errors(without, line(150))
    state = state_of(without)
    old = {name: each for name, each in state["learned"].items() if name != "plain"}
    restored = model_of({**state, "version": 5, "learned": old})
    both = [errors(each, line(400)[150:]) for each in (without, restored)]
    assert both[0][:WAITING].tolist() == both[1][:WAITING].tolist()
    assert both[1][WAITING:].mean() < 0.2 * both[0][WAITING:].mean()


@pytest.mark.parametrize("profile", PROFILES)
def test_intervals_are_around_the_prediction(profile):
    """Where only these forecasts are right, intervals are as narrow as their errors."""
    model, inside, widths = InfiniteLayerRegressor(profile, seed=1), 0, []
    for x, y in line(500):
        low, high = model.predict_interval(x, 0.9)
        inside += low <= y <= high
        widths.append(high - low)
        model.learn_one(x, y)
    assert 0.85 < inside / 500 < 0.95
    assert np.median(widths[300:]) < 0.6  # 3.3 sd
    assert model.drift < 2.0


@pytest.mark.parametrize("profile", PROFILES)
def test_late_labels(profile):
    """With labels ten events late, a line is followed all the same; nothing is out of bounds."""
    model, waiting, found = InfiniteLayerRegressor(profile, seed=1), [], []
    for x, y in line(500):
        prediction, token = model.predict_token(x)
        found.append(abs(prediction - y))
        waiting.append((x, token, y))
        if len(waiting) > 10:
            model.learn_token(*waiting.pop(0))
    assert np.mean(found[200:]) < 0.2


@pytest.mark.parametrize("profile", PROFILES)
def test_events_of_weight_0_change_no_weights(profile):
    """Least squares and the leader learn nothing from them; the last target is theirs."""
    model = InfiniteLayerRegressor(profile, seed=1)
    errors(model, thirty(60))
    plain, names = model._engine.plain, ("theta", "P", "beta", "Q", "effects", "leader", "choice")
    before = {name: getattr(plain, name).copy() for name in names}
    for x, y in line(20):
        model.learn_one(x, y, w=0.0)
    assert all((getattr(plain, name) == before[name]).all() for name in names)
