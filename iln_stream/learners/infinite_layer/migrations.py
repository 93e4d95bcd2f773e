"""The engines' states of release 0.1.0, in the form of version 3."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.state import StateDict

ASLEEP = -40.0
"""Log weight of an expert that does not count yet."""

INERTIA = 100.0


def regressor_from_version_2(state: StateDict) -> StateDict:
    """Return the state of an `InfiniteLayerRegressor` of version 2 in version 3."""
    convert = _accurate if state["parameters"]["profile"] == "accurate" else _fast
    return {**state, "learned": convert(state["learned"])}


def ridge_from_version_2(state: StateDict) -> StateDict:
    """Return the state of a `RandomFeatureRidge` of version 2 in version 3.

    Drift was not measured then, and begins with the next event.
    """
    old = state["learned"]
    learned = {
        "lags": np.zeros(0),
        "inputs": old["inputs"],
        "target": old["target"],
        "memory": _memory(old["memory"]),
        "expert": _resampled(old["ridge"], old),
        "drift_means": {"record": np.zeros(3)},
    }
    return {**state, "learned": learned}


def classifier_from_version_2(state: StateDict) -> StateDict:
    """Return the state of an `InfiniteLayerClassifier` of version 2 in version 3.

    Networks and naive Bayes did not exist then: they begin now, without weight. The rule goes on
    from the weights of the Bayesian mixture that it replaces.
    """
    # Imported here, so that only migrations wait for numba.
    from iln_stream.learners.infinite_layer.profiles.classes import ClassificationEngine

    old = state["learned"]
    ridges = _resampled(old["ridges"], old)
    ridges["resampler"]["predictions"] = np.zeros((0, len(old["redraws"]["replaced_at"])))
    n_columns = old["inputs"]["stats"].shape[1]
    engine = ClassificationEngine(max(n_columns, 1), old["redraws"]["key"])
    for part in (engine.naive_bayes, engine.networks):
        if n_columns:
            part.widen(n_columns)
        for _ in old["classes"]:
            part.add_class()
    learned = {
        "counts": np.array(old["counts"], np.int64),
        "classes": old["classes"],
        "inputs": old["inputs"],
        "memory": _memory(old["memory"]),
        "ridges": ridges,
        "linear": _bank(old["linear"]),
        "naive_bayes": engine.naive_bayes.state(),
        "networks": engine.networks.state(),
        "rule": {"table": _table(old["mixture"]["log_weights"], engine.rule.table.shape[1])},
        "correction": engine.correction.state(),
        "mixture": {"log_weights": np.array([0.0, ASLEEP])},
    }
    return {**state, "learned": learned}


def _table(log_weights: NDArray[np.float64], n_experts: int) -> NDArray[np.float64]:
    """Return the table of ML-Poly whose first weights are those of a Bayesian mixture.

    Its regrets are as large as if `INERTIA` events had led to these weights.
    """
    weights = np.zeros(n_experts)
    weights[: len(log_weights)] = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    ones = np.zeros(n_experts)
    ones[: len(log_weights)] = 1.0
    return np.stack([INERTIA * weights, (INERTIA - 1.0) * ones, ones, weights])


def _accurate(old: StateDict) -> StateDict:
    redrawn = old["redraws"]["replaced_at"]
    near = dict(old["neighbours"])
    mean = {
        "rule": old["mean"],
        "experts": {
            "ridges": _resampled(old["ridges"], old),
            "linear": _bank(old["linear"]),
            "forgetting-rls": old["tracker"] | {"followed_at": int(redrawn[0])},
            "first-order": old["first_order"],
            "running-mean": {},
            "persistence": {},
        },
    }
    neighbours = {"deviations": near.pop("standing"), "scaled": near.pop("standing_t"), **near}
    return {
        "lags": old["lags"],
        "inputs": old["inputs"],
        "target": old["target"],
        "memory": _memory(old["memory"]),
        "expert": {"rule": old["final"], "experts": {"mean": mean, "neighbours": neighbours}},
        "intervals": old["intervals"],
        "drift_means": old["drift_means"],
    }


def _fast(old: StateDict) -> StateDict:
    renamed = {"outer": "agop", "redrawn": "drawn_at", "newborn": "candidate"}
    return {renamed.get(name, name): value for name, value in old.items()}


def _memory(old: StateDict) -> StateDict:
    return {name: value for name, value in old.items() if name != "predictions"}


def _bank(old: StateDict) -> StateDict:
    """Linear experts are never redrawn."""
    kept = {name: value for name, value in old.items() if name != "outer"}
    return {**kept, "drawn_at": np.zeros(len(old["theta"]), np.int64)}


def _resampled(ridges: StateDict, old: StateDict) -> StateDict:
    redraws: dict[str, Any] = dict(old["redraws"])
    bank = _bank(ridges) | {"drawn_at": redraws.pop("replaced_at")}
    resampler = {
        "scored_from": redraws.pop("judged_from"),
        "losses": redraws.pop("lost"),
        "candidate": redraws.pop("newborn"),
        "candidate_of": redraws.pop("expert"),
        "predictions": old["memory"]["predictions"],
        **redraws,
    }
    return {"agop": ridges["outer"], "bank": bank, "resampler": resampler}
