import copy
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.states import same

from iln_stream import InfiniteLayerClassifier, InfiniteLayerRegressor, RandomFeatureRidge
from iln_stream.learners.infinite_layer.migrations import ASLEEP
from iln_stream.learners.infinite_layer.profiles.classes import ClassificationEngine
from iln_stream.learners.random_key import random_key
from iln_stream.learners.restoring import RestorableLearner


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
    return bank(new["bank"]) | {"outer": new["agop"]}, redraws, predictions


def accurate(new):
    mean = new["expert"]["experts"]["mean"]
    experts, near = mean["experts"], dict(new["expert"]["experts"]["neighbours"])
    ridges, redraws, predictions = resampled(experts["ridges"])
    tracker = dict(experts["forgetting-rls"])
    del tracker["followed_at"]
    near["standing"], near["standing_t"] = near.pop("deviations"), near.pop("scaled")
    return {
        **{name: new[name] for name in ("lags", "inputs", "target", "intervals", "drift_means")},
        "ridges": ridges,
        "linear": bank(experts["linear"]),
        "tracker": tracker,
        "first_order": experts["first-order"],
        "mean": mean["rule"],
        "final": new["expert"]["rule"],
        "memory": new["memory"] | {"predictions": predictions},
        "neighbours": near,
        "redraws": redraws,
    }


def fast(new):
    old = dict(new)
    for old_name, name in (("outer", "agop"), ("redrawn", "drawn_at"), ("newborn", "candidate")):
        old[old_name] = old.pop(name)
    return old


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


@pytest.mark.parametrize("n", [0, 3, 65, 130])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.old.__name__)
def test_a_state_of_version_2_goes_on(kind, n):
    """Renamed and moved back into the form of 0.1.0, a state is migrated to what it was; it is left
    as it is, and a learner restored from it predicts the same: new, taught, and amid redraws.
    """
    learner = kind.taught(n)
    new = learner.state()
    for resampler in resamplers(new["learned"]):
        resampler["losses"] = np.array([1.5, 2.5])  # 0 while the memory has all events
    old = {**new, "version": 2, "learned": kind.old(copy.deepcopy(new["learned"]))}
    kept = copy.deepcopy(old)
    migrated = kind.cls.migrations[2](old)
    assert same(old, kept)
    if kind.old is classes:
        begin_class_networks(new["learned"])
    if kind.old is ridge:  # drift was not measured
        new["learned"]["drift_means"] = {"record": np.zeros(3)}
    assert in_order(migrated) == in_order({**new, "version": 2})
    twin = kind.cls.from_state(old)
    assert same(old, kept)
    if kind.old is not classes:  # its networks have learned
        assert kind.predicted(twin) == kind.predicted(learner)


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


def old_classifier(n):
    """A learner, and one from its state in the form of 0.1.0."""
    kind = KINDS[-1]
    learner = kind.taught(n)
    new = learner.state()
    return learner, {**new, "version": 2, "learned": classes(copy.deepcopy(new["learned"]))}


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
