import copy
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.states import same

from iln_stream.kernels.columns import COUNT, LAST, MEAN, ROUGHNESS, SQUARES, no_statistics
from iln_stream.learners.infinite_layer.accurate import AccurateEngine
from iln_stream.learners.infinite_layer.classes import ClassificationEngine
from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.migrations import ASLEEP
from iln_stream.learners.infinite_layer.random_feature_ridge import RandomFeatureRidge
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.restoring import RestorableLearner, random_key

OLD_ORDER = [0, 1, 2, 4, 5, 6, 3, 7, 8, 9]
"""Places of release 0.1.0's experts of the mean among those of today."""


def bank(new):
    """The state of ridge experts in release 0.1.0, which had `outer`."""
    old = dict(new)
    old.pop("drawn_at")
    return old | {"outer": np.eye(2)}


def resampled(new):
    """The old states of ridges that are redrawn, and of their redraws; and the predictions."""
    redraws = dict(new["resampler"])
    predictions = redraws.pop("predictions")
    for old_name, name in (("judged_from", "scored_from"), ("lost", "losses"),
                           ("newborn", "candidate"), ("expert", "candidate_of")):  # fmt: skip
        redraws[old_name] = redraws.pop(name)
    redraws["replaced_at"] = new["bank"]["drawn_at"]
    del redraws["since"]
    return bank(new["bank"]) | {"outer": new["agop"]}, redraws, predictions


def accurate(new):
    mean = new["expert"]["experts"]["mean"]
    experts, near = mean["experts"], dict(new["expert"]["experts"]["neighbours"])
    sleepers = experts["ridges"]["experts"]
    ridges, redraws, predictions = resampled(sleepers["ridges"])
    tracker = dict(sleepers["forgetting-rls"])
    del tracker["followed_at"]
    near["standing"], near["standing_t"] = near.pop("deviations"), near.pop("scaled")
    return {
        **{name: new[name] for name in ("lags", "inputs", "target", "drift_means")},
        "intervals": intervals(new["intervals"]),
        "ridges": ridges,
        "linear": bank(experts["linear"]),
        "tracker": tracker,
        "first_order": experts["first-order"],
        "mean": {**mean["rule"], "table": mean["rule"]["table"][:, OLD_ORDER]},
        "final": new["expert"]["rule"],
        "memory": new["memory"] | {"predictions": predictions},
        "neighbours": near,
        "redraws": redraws,
    }


def intervals(new):
    """The state of intervals without expected sizes of errors."""
    rules = new["rules"].reshape(4, 5, -1)[:, :, :6].reshape(4, 30)
    old = {name: new[name] for name in ("errors", "tallies", "record")}
    return old | {"rules": rules}


def fast(new):
    """Its units did not move, and its memory was smaller."""
    names = ("key", "target", "table", "theta", "P", "inputs")
    n, d = int(new["record"][0]), len(new["mean_squares"])
    memory = np.zeros((1024, d + 1))
    events = np.arange(max(0, n - 1024), n)
    memory[events % 1024] = new["memory"][events % 4096]
    return {
        **{name: new[name] for name in names},
        "intervals": intervals(new["intervals"]),
        "record": new["record"][:9],
        "units": new["units"][3],
        "outer": np.diag(new["mean_squares"]),
        "memory": memory,
        "redrawn": 0,
        "next_at": 64,
        "cursor": 0,
        "frame_stats": np.zeros((5, 0)),
        "frame_scale": np.zeros(2),
        "newborn": None,
    }


def unmoved(new):
    """A state of fast whose units begin to move."""
    units, record = np.zeros_like(new["units"]), new["record"].copy()
    units[[0, 3]] = new["units"][3]
    record[9:] = 0.0, min(record[0], 1024)
    memory = new["memory"].copy()
    memory[int(record[0]) :] = 0.0
    return new | {"units": units, "record": record, "memory": memory}


def ridge(new):
    ridges, redraws, predictions = resampled(new["expert"])
    return {
        "inputs": new["inputs"],
        "target": new["target"],
        "ridge": ridges,
        "memory": new["memory"] | {"predictions": predictions},
        "redraws": redraws,
    }


def classes(new):
    ridges, redraws, _ = resampled(new["ridges"])
    return {
        **{name: new[name] for name in ("classes", "inputs")},
        "counts": new["counts"].tolist(),
        "mixture": {"log_weights": LOG_WEIGHTS.copy()},
        "ridges": ridges,
        "linear": bank(new["linear"]),
        "memory": new["memory"] | {"predictions": np.zeros((2048, 3))},
        "redraws": redraws,
    }


STATISTICS = ("stats", "frame_stats", "target")
"""Names of statistics in states; a `target` may be a part that has them."""


def with_statistics(state, change):
    """A state whose statistics are changed."""
    if not isinstance(state, dict):
        return state
    return {
        name: change(value)
        if name in STATISTICS and isinstance(value, np.ndarray)
        else with_statistics(value, change)
        for name, value in state.items()
    }


def without_runs(stats):
    """Statistics as they begin after a migration, which knows the first five rows only."""
    begun = no_statistics(stats.shape[1])
    begun[:5], begun[LAST] = stats[:5], stats[MEAN]
    begun[ROUGHNESS] = 2.0 * stats[SQUARES] / np.maximum(stats[COUNT], 1.0)
    return begun


LOG_WEIGHTS = np.append(np.linspace(-1200.0, -1000.0, 16), -1.0)
"""Of the classifier's experts in release 0.1.0: only the classes' frequencies count."""


class Kind(NamedTuple):
    """A learner, and how the state of its engine was in release 0.1.0."""

    cls: type[RestorableLearner]
    parameters: dict[str, Any]
    old: Any

    def taught(self, n):
        """A learner of this kind that has learned n events."""
        learner = self.cls(**self.parameters, seed=1)
        if self.old is accurate:
            learner._engine.networks.wakes_at = 1_000  # release 0.1.0 had none
        for a, b in np.random.default_rng(0).normal(size=(n, 2)).tolist():
            y = "yes" if a * b > 0 else "no"
            learner.learn_one({"a": a, "b": b}, y if self.old is classes else a * b)
        return learner

    def predicted(self, learner):
        predict = learner.predict_proba_one if self.old is classes else learner.predict_one
        return [predict({"a": a, "b": -1.0}) for a in (-1.0, 0.5, 2.0)]


KINDS = [
    Kind(InfiniteLayerRegressor, {"profile": "accurate"}, accurate),
    Kind(InfiniteLayerRegressor, {"profile": "fast"}, fast),
    Kind(RandomFeatureRidge, {"n_features": 4}, ridge),
    Kind(RandomFeatureRidge, {"n_features": 4, "sampling": "prior"}, ridge),
    Kind(InfiniteLayerClassifier, {}, classes),
]


@pytest.mark.parametrize("n", [0, 3, 65, 95])  # KRLS-T, new since, sleeps until 96
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.old.__name__)
def test_a_state_of_version_2_goes_on(kind, n):
    """Renamed and moved back into the form of 0.1.0, a state is migrated to what it was; it is left
    as it is, and a learner restored from it predicts the same: new, taught, and amid redraws.
    """
    learner = kind.taught(n)
    new = learner.state()
    for resampler in resamplers(new["learned"]):
        resampler["losses"] = np.array([1.5, 2.5])  # 0 while the memory has all events
    learned = with_statistics(kind.old(copy.deepcopy(new["learned"])), lambda stats: stats[:5])
    old = {**new, "version": 2, "learned": learned}
    kept = copy.deepcopy(old)
    migrated = old
    for _, migrate in sorted(kind.cls.migrations.items()):
        migrated = migrate(migrated)
    assert same(old, kept)
    if kind.old is accurate:
        begin(new["learned"])
    if kind.old is fast:
        new["learned"] = unmoved(new["learned"])
    if kind.old is classes:
        begin_class_networks(new["learned"])
    if kind.old is ridge:  # drift was not measured
        new["learned"]["drift_means"] = {"record": np.zeros(3)}
    else:
        new["beginning"] = None  # a new learner waits for categories among its first events
    assert in_order(migrated) == in_order({**with_statistics(new, without_runs), "version": 2})
    twin = kind.cls.from_state(old)
    assert same(old, kept)
    if kind.old is not classes:  # its networks have learned
        assert kind.predicted(twin) == kind.predicted(learner)


@pytest.mark.parametrize("n_reset", [0, 2])
def test_a_fast_state_of_version_3_goes_on(n_reset):
    """It counted how often the ridge was reinitialised; now parts are counted by name."""
    learner = KINDS[1].taught(200)
    new = learner.state()
    learned = {name: value for name, value in new["learned"].items() if name != "healer"}
    old = {**new, "version": 3, "learned": learned | {"n_reset": n_reset}}
    kept = copy.deepcopy(old)
    twin = InfiniteLayerRegressor.from_state(old)
    assert same(old, kept)
    assert twin.n_reset == twin.resets["ridge"] == n_reset
    assert KINDS[1].predicted(twin) == KINDS[1].predicted(learner)


def test_an_accurate_state_of_version_3_goes_on():
    """Nothing of it changed."""
    learner = KINDS[0].taught(70)
    twin = InfiniteLayerRegressor.from_state({**learner.state(), "version": 3})
    assert same(twin.state(), learner.state())


def begin_class_networks(state):
    """Put new experts and rules, whose weights are the old ones, in the place of the learned."""
    engine = ClassificationEngine(256, random_key(1))
    for part in (engine.naive_bayes, engine.networks):
        if n_columns := state["inputs"]["stats"].shape[1]:
            part.widen(n_columns)
        for _ in state["classes"]:
            part.add_class()
    table = np.zeros((4, engine.rule.table.shape[1]))
    table[1, :17], table[2, :17], table[3, 16], table[0, 16] = 99.0, 1.0, 1.0, 100.0
    state["naive_bayes"] = engine.naive_bayes.state()
    state["networks"], state["correction"] = engine.networks.state(), engine.correction.state()
    state["rule"] = {"table": table}
    state["mixture"] = {"log_weights": np.array([0.0, ASLEEP])}


def classes_of_version_3(new):
    """The state when only networks healed, and counted it themselves."""
    old = {
        **new,
        "networks": {**new["networks"], "n_reset": new["healer"]["resets"].get("networks", 0)},
    }
    del old["healer"]
    return old


@pytest.mark.parametrize("resets", [{}, {"networks": 2}])
def test_a_classifier_of_version_3_goes_on(resets):
    """It predicts the same, counts on, and its state is that of today; the old one is left as it
    is."""
    learner = KINDS[-1].taught(130)
    learner._engine.healer.resets.update(resets)
    new = learner.state()
    old = {**new, "version": 3, "learned": classes_of_version_3(new["learned"])}
    kept = copy.deepcopy(old)
    twin = InfiniteLayerClassifier.from_state(old)
    assert same(old, kept)
    assert in_order(twin.state()) == in_order(new)
    assert twin.resets == learner.resets
    for each in (twin, learner):
        each.learn_one({"a": 0.3, "b": -0.2}, "no")
    assert KINDS[-1].predicted(twin) == KINDS[-1].predicted(learner)


def old_classifier(n):
    """A learner, and one from its state in the form of 0.1.0."""
    kind = KINDS[-1]
    learner = kind.taught(n)
    new = learner.state()
    old = with_statistics(classes(copy.deepcopy(new["learned"])), lambda stats: stats[:5])
    return learner, {**new, "version": 2, "learned": old}


def test_a_classifier_of_version_2_predicts_as_it_did():
    """The rule has the old mixture's weights, all on the frequencies here; the correction and the
    networks do not count.
    """
    learner, old = old_classifier(130)
    twin = InfiniteLayerClassifier.from_state(old)
    counts = dict(zip(learner.state()["learned"]["classes"], old["learned"]["counts"], strict=True))
    assert len(counts) == 2
    for p in KINDS[-1].predicted(twin):
        for label, count in zip(p, counts.values(), strict=True):
            expected = (1 - 1e-4) * (count + 1) / (130 + 2) + 1e-4 / 2
            assert p[label] == pytest.approx(expected, rel=1e-9)


def test_a_classifier_of_version_2_learns_more_than_it_did():
    """After 2,000 further events a product of inputs is learned, and what it had not has weight."""
    twin = InfiniteLayerClassifier.from_state(old_classifier(130)[1])
    right = []
    for a, b in np.random.default_rng(1).normal(size=(2_000, 2)).tolist():
        y = "yes" if a * b > 0 else "no"
        right.append(twin.predict_one({"a": a, "b": b}) == y)
        twin.learn_one({"a": a, "b": b}, y)
    assert np.mean(right[1_000:]) > 0.93
    weights = twin.expert_weights
    later = [name for name in weights if name.startswith("net-") or name == "correction"]
    assert sum(weights[name] for name in later) > 0.5


def begin(state):
    """Put new networks, KRLS-T and sizes of errors, without weight, in the place of those that have
    learned; how much the ridges weighed was not measured.
    """
    engine = AccurateEngine(256, random_key(1))
    moving = engine.moving
    if n_columns := state["inputs"]["stats"].shape[1]:
        moving.widen(n_columns)
        engine.error_scale.widen(n_columns)
    found = state["intervals"]
    found["scale"] = engine.error_scale.state()
    found["ratios"][:] = 0.0
    found["rules"].reshape(4, 5, 8)[:, :, 6:] = 0.0
    mean = state["expert"]["experts"]["mean"]
    mean["experts"]["moving"] = moving.state()
    mean["experts"]["ridges"]["share"] = 1.0
    mean["rule"]["table"][:, -1] = 0.0


def resamplers(state):
    """The states of feature resamplers within a state."""
    if isinstance(state, dict):
        yield from [state["resampler"]] if "resampler" in state else []
        for value in state.values():
            yield from resamplers(value)


def in_order(state):
    """A state that can be compared: in the order of its keys, with the bytes of arrays."""
    if isinstance(state, dict):
        return {key: in_order(value) for key, value in sorted(state.items())}
    if isinstance(state, np.ndarray):
        return state.dtype, state.shape, state.tobytes()
    return [in_order(value) for value in state] if isinstance(state, list) else state
