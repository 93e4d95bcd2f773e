import math

import numpy as np
import pytest
from support.prequential import errors, learned

from iln_stream.errors import StateError
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor


def interaction(n, seed, d=4, noise=0.1):
    """A stream whose target is a product of the first two of d inputs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X[:, 0] * X[:, 1] + noise * rng.normal(size=n)
    return [dict(zip("abcdefgh"[:d], row, strict=True)) for row in X.tolist()], y.tolist()


def ratio(model, xs, ys):
    """Prequential MAE over that of the running mean."""
    lost = lost_mean = mean = 0.0
    for n, (x, y) in enumerate(zip(xs, ys, strict=True)):
        p = model.predict_one(x)
        assert math.isfinite(p)
        lost += abs(y - p)
        lost_mean += abs(y - mean)
        mean += (y - mean) / (n + 1)
        model.learn_one(x, y)
    return lost / lost_mean


def trained(n=300, seed=1, profile="accurate"):
    """A model that has learned n events of an interaction."""
    xs, ys = interaction(n, 0)
    model = InfiniteLayerRegressor(profile, seed=seed)
    return learned(model, zip(xs, ys, strict=True)), xs, ys


@pytest.mark.parametrize(("profile", "most"), [("accurate", 0.4), ("fast", 0.6)])
def test_learns_what_a_linear_model_cannot(profile, most):
    """A product of two inputs among four is learned far below the running mean's error."""
    assert ratio(InfiniteLayerRegressor(profile, seed=1), *interaction(1_000, 0)) < most


@pytest.mark.parametrize(("profile", "n"), [("accurate", 300), ("fast", 1_200)])
def test_state_goes_on_bit_for_bit(n, profile):
    """A restored learner predicts what the original does, intervals included, long after redraws
    and moves of units."""
    model, _, _ = trained(n, profile=profile)
    twin = InfiniteLayerRegressor.from_state(model.state())
    xs, ys = interaction(50, 5)
    for x, y in zip(xs, ys, strict=True):
        assert twin.predict_one(x) == model.predict_one(x)
        assert twin.predict_interval(x) == model.predict_interval(x)
        twin.learn_one(x, y)
        model.learn_one(x, y)


def test_seed_decides():
    """The same seed gives the same learner, another seed another one."""
    (one, xs, _), (same, _, _), (other, _, _) = (trained(100, seed=s) for s in (1, 1, 2))
    assert one.predict_one(xs[0]) == same.predict_one(xs[0]) != other.predict_one(xs[0])


def test_scale_and_offset_do_not_matter():
    """Inputs times a million and far from 0, and targets in other units, are learned as well."""
    xs, ys = interaction(400, 0)
    far = [{name: 1e6 * value + 1e9 for name, value in x.items()} for x in xs]
    plain = ratio(InfiniteLayerRegressor(seed=1), xs, ys)
    # Ratios differ in the first events only: a running mean of 0 is a good guess of ys itself.
    moved = ratio(InfiniteLayerRegressor(seed=1), far, [1e-6 * y for y in ys])
    assert moved == pytest.approx(plain, rel=0.02)


def test_constant_and_duplicated_columns():
    """Uninformative columns do little harm."""
    xs, ys = interaction(400, 0)
    more = [{**x, "constant": 7.0, "again": x["a"], "once more": 5.0 * x["a"]} for x in xs]
    assert ratio(InfiniteLayerRegressor(seed=1), more, ys) < 0.75


@pytest.mark.parametrize("profile", ["fast", pytest.param("accurate", marks=pytest.mark.thorough)])
def test_noise_is_not_learned(profile):
    """On pure noise the learner is at most 2 % worse than the running mean."""
    rng = np.random.default_rng(3)
    xs = [dict(zip("abcdef", row, strict=True)) for row in rng.normal(size=(2_000, 6)).tolist()]
    ys = rng.normal(size=2_000).tolist()
    assert ratio(InfiniteLayerRegressor(profile, seed=1), xs, ys) < 1.02


def test_outliers_do_little_harm():
    """0.5 % of inputs and targets at 100 deviations: the other events are still learned."""
    xs, ys = interaction(1_500, 0)
    rng = np.random.default_rng(4)
    model = InfiniteLayerRegressor(seed=1)
    lost = lost_mean = 0.0
    for x, y in zip(xs, ys, strict=True):
        wild = rng.random(2) < 0.005
        x = {**x, "b": 100.0} if wild[0] else x
        if not wild.any():
            lost += abs(y - model.predict_one(x))
            lost_mean += abs(y)
        model.learn_one(x, 100.0 if wild[1] else y)
    assert lost / lost_mean < 0.5


@pytest.mark.parametrize("profile", ["accurate", "fast"])
def test_the_largest_numbers_there_are(profile):
    """Inputs and targets as large as a double can be, or as small, from the first event on, do no
    harm, and overflow no part."""
    model = InfiniteLayerRegressor(profile, seed=1)
    xs, ys = interaction(300, 0)
    for k, (x, y) in enumerate(zip(xs, ys, strict=True)):
        huge = 1.7e308 * (-1) ** k if k % 50 < 2 else None
        x, y = ({"a": huge, **x, "b": huge}, huge) if huge else (x, y)
        assert math.isfinite(model.predict_one(x))
        assert all(map(math.isfinite, model.predict_interval(x)))
        model.learn_one(x, y)
    for size in 10.0 ** np.random.default_rng(1).choice([-162, -150, 0, 150], size=(300, 2)):
        x, y = {"a": float(size[0]), "b": -float(size[0])}, float(size[1])
        assert math.isfinite(model.predict_one(x))
        model.learn_one(x, y)
    assert not any(model.resets.values())


@pytest.mark.parametrize("profile", ["accurate", "fast"])
def test_names_may_come_and_go(profile):
    """New names, missing ones and events without inputs are learned without a warning."""
    model = InfiniteLayerRegressor(profile, seed=1)
    rng = np.random.default_rng(5)
    for k in range(400):
        x = {f"x{j}": v for j, v in enumerate(rng.normal(size=6).tolist()) if rng.random() < 0.5}
        if k > 200:
            x["late"] = rng.normal()
        y = x.get("x0", 0.0) + x.get("late", 0.0)
        assert math.isfinite(model.predict_one(x))
        model.learn_one(x, y)
    assert model.predict_one({}) == pytest.approx(0.0, abs=1.0)
    assert model.predict_one({"late": 1.5}) > model.predict_one({"late": -1.5}) + 1.0


@pytest.mark.parametrize("profile", ["accurate", "fast"])
def test_relevance_names_the_inputs_that_matter(profile):
    """The two inputs of the product have nearly all the relevance; shares and experts' weights sum
    to one."""
    model, _, _ = trained(800, profile=profile)
    relevance, weights = model.relevance, model.expert_weights
    assert sum(relevance.values()) == pytest.approx(1.0)
    assert relevance["a"] + relevance["b"] > 0.9
    assert sum(weights.values()) == pytest.approx(1.0)
    assert min(weights.values()) >= 0.0


@pytest.mark.parametrize("profile", ["accurate", "fast"])
def test_drift_signal_rises_at_a_change(profile):
    """The signal is about 1 while the stream is steady, and rises when it turns over."""
    model, _, _ = trained(1_000, profile=profile)
    assert 0.5 < model.drift < 1.5
    xs, ys = interaction(50, 9)
    for x, y in zip(xs, ys, strict=True):
        model.learn_one(x, -3.0 * y)
    assert model.drift > 1.5


def test_intervals_cover():
    """Of 3,000 intervals at 90 % the share that covers is within 2 % (4 standard errors) of it; of
    profile accurate, tests/learners/infinite_layer/test_intervals.py shows it."""
    model = InfiniteLayerRegressor("fast", seed=1)
    xs, ys = interaction(3_000, 0, noise=0.5)
    held = 0
    for x, y in zip(xs, ys, strict=True):
        low, high = model.predict_interval(x)
        assert -math.inf < low <= high < math.inf
        held += low <= y <= high
        model.learn_one(x, y)
    assert held / 3_000 == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize("profile", ["accurate", "fast"])
def test_before_anything_is_learned(profile):
    """A new learner predicts 0, within a finite interval."""
    model = InfiniteLayerRegressor(profile, seed=1)
    assert model.predict_one({"a": 5.0}) == 0.0
    assert model.predict_interval({"a": 5.0}) == (-1.0, 1.0)
    assert (model.drift, model.relevance, model.n_learned) == (1.0, {}, 0)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_bad_numbers_are_refused_and_leave_no_trace(bad):
    """Inputs and targets must be finite; the message names the field, and nothing is learned."""
    model, xs, _ys = trained(20)
    before = model.predict_one(xs[0])
    with pytest.raises(ValueError, match=r"x\['a'\]"):
        model.predict_one({"a": bad})
    with pytest.raises(ValueError, match=r"x\['a'\]"):
        model.learn_one({"a": bad}, 1.0)
    with pytest.raises(ValueError, match="y is"):
        model.learn_one(xs[0], bad)
    assert (model.predict_one(xs[0]), model.n_learned) == (before, 20)


def test_parameters_are_checked():
    """Invalid parameters are rejected by name."""
    with pytest.raises(ValueError, match="profile = 'slow'"):
        InfiniteLayerRegressor("slow")
    with pytest.raises(ValueError, match="max_columns = 0"):
        InfiniteLayerRegressor(max_columns=0)
    with pytest.raises(ValueError, match="level = 1"):
        InfiniteLayerRegressor().predict_interval({}, level=1.0)
    with pytest.raises(ValueError, match="loss = 'huber' must be 'absolute' or 'squared'"):
        InfiniteLayerRegressor(loss="huber")


@pytest.mark.thorough
def test_redraws_go_on_while_columns_come():
    """Units are redrawn also while a stream keeps bringing new names."""
    model = InfiniteLayerRegressor(seed=1)
    rng = np.random.default_rng(0)
    for i in range(1_200):
        x = {"a": float(rng.normal()), "b": float(rng.normal()), f"new{i // 10}": 1.0}
        model.learn_one(x, x["a"] * x["b"])
    assert min(model.redrawn_at.values()) > 800


def moved(where, level, scale, xs, ys, first):
    """A stream whose target, or some inputs, have another level and scale from an event on."""
    rest = slice(first, None)
    if where == "target":
        return xs, ys[:first] + [level + scale * y for y in ys[rest]]
    names = xs[0] if where == "inputs" else [where]
    changed = [{**x, **{name: level + scale * x[name] for name in names}} for x in xs[rest]]
    return xs[:first] + changed, ys


@pytest.mark.parametrize(
    ("profile", "n", "where", "level", "scale"),
    [
        ("accurate", 1_000, "target", 50.0, 1.0),
        pytest.param("accurate", 1_000, "a", 0.0, 100.0, marks=pytest.mark.thorough),
        ("accurate", 1_000, "inputs", 0.0, 0.01),
        *(("fast", 1_000, where, 50.0, 1.0) for where in ("target", "a", "inputs")),
        *(("fast", 4_000, where, 0.0, 0.01) for where in ("target", "a", "inputs")),
        *(("fast", 1_000, where, 0.0, 100.0) for where in ("target", "inputs")),
    ],
)
def test_a_change_of_level_or_scale_is_followed(profile, n, where, level, scale):
    """300 events after it the error is at most half as large again as before, in the new unit,
    however long the history."""
    xs, ys = moved(where, level, scale, *interaction(n + 600, 4), n)
    found = errors(InfiniteLayerRegressor(profile, seed=1), zip(xs, ys, strict=True))
    unit = scale if where == "target" else 1.0
    assert found[n + 300 :].mean() < 1.5 * unit * found[n - 1_000 : n].mean()


@pytest.mark.parametrize(
    ("profile", "at"), [pytest.param("accurate", 5, marks=pytest.mark.thorough), ("fast", 20)]
)
def test_one_wild_value_among_the_first_does_no_lasting_harm(at, profile):
    """1e300 as the target or an input of an early event is forgotten a thousand events later."""
    xs, ys = interaction(1_600, 5)
    errors = {}
    for wild in ("nothing", "target", "a"):
        model = InfiniteLayerRegressor(profile, seed=1)
        errors[wild] = []
        for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
            hit = wild if i == at else "nothing"
            x, y = {**x, "a": 1e300} if hit == "a" else x, 1e300 if hit == "target" else y
            errors[wild].append(abs(y - model.predict_one(x)))
            model.learn_one(x, y)
    last = {wild: np.mean(each[1_000:]) for wild, each in errors.items()}
    assert max(last.values()) < 1.25 * last["nothing"]


@pytest.mark.parametrize("profile", ["fast", pytest.param("accurate", marks=pytest.mark.thorough)])
def test_cauchy_noise_is_survived(profile):
    """Where targets have no mean, predictions are about as good as the running median."""
    xs, ys = interaction(2_500, 8)
    ys = (np.array(ys) + np.random.default_rng(9).standard_cauchy(len(ys))).tolist()
    model, errors, medians = InfiniteLayerRegressor(profile, seed=1), [], []
    for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
        if i >= 1_000:
            errors.append(min(abs(y - model.predict_one(x)), 20.0))
            medians.append(min(abs(y - np.median(ys[:i])), 20.0))
        model.learn_one(x, y)
    assert np.mean(errors) < 1.05 * np.mean(medians)


def of_the_last_targets(n, phi_1, phi_2):
    """A stream whose only structure is y_t = phi_1 y_{t-1} + phi_2 y_{t-2} + noise."""
    rng = np.random.default_rng(6)
    y = [0.0, 0.0]
    for noise in rng.normal(size=n).tolist():
        y.append(phi_1 * y[-1] + phi_2 * y[-2] + noise)
    return [{"noise": v} for v in rng.normal(size=n).tolist()], y[2:]


@pytest.mark.parametrize("profile", ["accurate", "fast"])
def test_the_target_before_the_last_is_an_input(profile):
    """Where the target follows the one two events ago, and not the last, that is learned."""
    xs, ys = of_the_last_targets(1_000, 0.0, 0.95)
    # Of all that varies the noise is sqrt(1 - 0.95^2) = 0.31.
    assert ratio(InfiniteLayerRegressor(profile, seed=1), xs, ys) < 0.5


@pytest.mark.parametrize("profile", ["accurate", "fast"])
def test_the_last_target_is_an_expert(profile):
    """On a random walk it has most weight, and the prediction is about as good as it is."""
    xs, ys = of_the_last_targets(600, 1.0, 0.0)
    model = InfiniteLayerRegressor(profile, seed=1)
    lost = sum_of_steps = last = 0.0
    for x, y in zip(xs, ys, strict=True):
        lost += abs(y - model.predict_one(x))
        sum_of_steps += abs(y - last)
        model.learn_one(x, y)
        last = y
    weights = model.expert_weights  # the leader's is that of the best
    assert weights["persistence"] + weights["last-value"] + weights["leader"] > 0.5
    assert lost < 1.03 * sum_of_steps


@pytest.mark.parametrize("profile", ["accurate", "fast"])
def test_a_refused_state_leaves_the_learner_as_it_is(profile):
    """A state without one of its fields is an error, and what was learned before it stays."""
    model = InfiniteLayerRegressor(profile, seed=1)
    for a in range(40):
        model.learn_one({"a": a % 7.0}, a % 5.0)
    state, prediction = model.state(), model.predict_one({"a": 2.0})
    del state["learned"]["intervals"]["record"]
    with pytest.raises(StateError, match="Intervals has missing or extra fields: record"):
        model.restore(state)
    assert (model.predict_one({"a": 2.0}), model.n_learned) == (prediction, 40)


@pytest.mark.parametrize("profile", ["fast", pytest.param("accurate", marks=pytest.mark.thorough)])
def test_loss_says_whether_the_median_or_the_mean_is_predicted(profile):
    """Of a count that is 0 in seven of eight events, the median is 0 and the mean .25: over 1,000
    events the mean prediction is near that of the loss.
    """
    rng = np.random.default_rng(0)
    events = [({"a": a}, 2.0 * (u < 0.125)) for a, u in rng.uniform(size=(2_000, 2)).tolist()]
    found = {}
    for loss in ("absolute", "squared"):
        model, predictions = InfiniteLayerRegressor(profile, seed=1, loss=loss), []
        for x, y in events:
            predictions.append(model.predict_one(x))
            model.learn_one(x, y)
        found[loss] = np.mean(predictions[1_000:])
    assert abs(found["absolute"]) < 0.05
    assert found["squared"] == pytest.approx(np.mean([y for _, y in events[1_000:]]), abs=0.05)
