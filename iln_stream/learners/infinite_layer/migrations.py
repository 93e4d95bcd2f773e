"""Older states in the form of the next version; those of release 0.1.0 have version 2."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.state import StateDict

if TYPE_CHECKING:
    from iln_stream.learners.infinite_layer.intervals import ErrorScale


RATIOS = 500
"""Errors in the window of an expert of intervals that scales them."""
ASLEEP = -40.0
"""Log weight of an expert that does not count yet."""

INERTIA = 100.0


def regressor_from_version_2(state: StateDict) -> StateDict:
    """Return the state of an `InfiniteLayerRegressor` of version 2 in version 3."""
    convert = _accurate if state["parameters"]["profile"] == "accurate" else _fast
    parameters = {**state["parameters"], "loss": "absolute"}
    return {**state, "parameters": parameters, "learned": convert(state["learned"])}


def regressor_from_version_3(state: StateDict) -> StateDict:
    """Return the state of an `InfiniteLayerRegressor` of version 3 in version 4.

    In profile fast only the ridge healed then.
    """
    if state["parameters"]["profile"] == "accurate":
        return state
    learned = dict(state["learned"])
    n_reset = learned.pop("n_reset")
    return {
        **state,
        "learned": learned | {"healer": {"resets": {"ridge": n_reset} if n_reset else {}}},
    }


def without_categories(state: StateDict) -> StateDict:
    """Return the state of a learner of version 4, which hashed no categories, in version 5."""
    return {**state, "categories": None, "beginning": None}


def ridge_from_version_2(state: StateDict) -> StateDict:
    """Return the state of a `RandomFeatureRidge` of version 2 in version 3.

    Drift was not measured then, and begins with the next event.
    """
    old = state["learned"]
    learned = {
        "lags": np.zeros(0),
        "inputs": _with_statistics(old["inputs"]),
        "target": _with_statistics(old["target"]),
        "memory": _memory(old["memory"]),
        "expert": _resampled(old["ridge"], old),
        "drift_means": {"record": np.zeros(3)},
        "healer": {"resets": {}},
    }
    return {**state, "learned": learned}


def classifier_from_version_2(state: StateDict) -> StateDict:
    """Return the state of an `InfiniteLayerClassifier` of version 2 in version 3.

    Networks and naive Bayes did not exist then: they begin now, without weight. The rule goes on
    from the weights of the Bayesian mixture that it replaces.
    """
    # Imported here, so that only migrations wait for numba.
    from iln_stream.learners.infinite_layer.classes import ClassificationEngine

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
        "inputs": _with_statistics(old["inputs"]),
        "memory": _memory(old["memory"]),
        "ridges": ridges,
        "linear": _bank(old["linear"]),
        "naive_bayes": engine.naive_bayes.state(),
        "networks": {**engine.networks.state(), "n_reset": 0},
        "rule": {"table": _table(old["mixture"]["log_weights"], engine.rule.table.shape[1])},
        "correction": engine.correction.state(),
        "mixture": {"log_weights": np.array([0.0, ASLEEP])},
    }
    return {**state, "learned": learned}


def classifier_from_version_3(state: StateDict) -> StateDict:
    """Return the state of an `InfiniteLayerClassifier` of version 3 in version 4.

    Only networks healed then, and counted it themselves.
    """
    networks = dict(state["learned"]["networks"])
    n_reset = networks.pop("n_reset")
    resets = {"networks": n_reset} if n_reset else {}
    learned = {**state["learned"], "networks": networks, "healer": {"resets": resets}}
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
    """Networks, KRLS-T and expected errors did not exist then: they begin now, without weight."""
    redrawn = old["redraws"]["replaced_at"]
    moving, scale = _new_parts(old["inputs"]["stats"].shape[1], old["redraws"]["key"])
    sleepers = {
        "resting": False, "share": 1.0, "n_learned": old["memory"]["n"], "n_alarms": 0,
        "experts": {
            "ridges": _resampled(old["ridges"], old),
            "forgetting-rls": old["tracker"] | {"followed_at": int(redrawn[0])},
        },
    }  # fmt: skip
    near = dict(old["neighbours"])
    mean = {
        "rule": _of_more_experts(old["mean"]),
        "experts": {
            "ridges": sleepers,
            "linear": _bank(old["linear"]),
            "first-order": old["first_order"],
            "running-mean": {},
            "persistence": {},
            "moving": moving,
        },
    }
    neighbours = {"deviations": near.pop("standing"), "scaled": near.pop("standing_t"), **near}
    return {
        "lags": old["lags"],
        "inputs": _with_statistics(old["inputs"]),
        "target": _with_statistics(old["target"]),
        "memory": _memory(old["memory"]),
        "expert": {"rule": old["final"], "experts": {"mean": mean, "neighbours": neighbours}},
        "intervals": _with_scale(old["intervals"], scale),
        "drift_means": old["drift_means"],
        "healer": {"resets": {}},
    }


def _new_parts(n_columns: int, key: NDArray[np.uint64]) -> tuple[StateDict, "ErrorScale"]:
    """Return the state of new networks and a new KRLS-T, and expected sizes of errors."""
    # Imported here, so that only migrations wait for numba.
    from iln_stream.learners.infinite_layer.accurate import AccurateEngine

    engine = AccurateEngine(max(n_columns, 1), key)
    if n_columns:
        engine.moving.widen(n_columns)
        engine.error_scale.widen(n_columns)
    return engine.moving.state(), engine.error_scale


def _with_scale(old: StateDict, scale: "ErrorScale") -> StateDict:
    """Return the state of intervals with two more experts at each level, by past errors of 0."""
    n_levels, S, window = len(old["tallies"]), len(scale.sizes), old["errors"].shape[1]
    rules = old["rules"].reshape(len(old["rules"]), n_levels, -1)
    rules = np.pad(rules, ((0, 0), (0, 0), (0, S))).reshape(len(rules), -1)
    return {**old, "rules": rules, "ratios": np.zeros((2 * S, window)), "scale": scale.state()}


def _of_more_experts(rule: StateDict) -> StateDict:
    """Return the state of ML-Poly with one more expert, without regret, in today's order.

    `forgetting-rls`, which was the seventh, follows the ridges.
    """
    order = [0, 1, 2, 6, 3, 4, 5, 7, 8, 9]
    return {**rule, "table": np.pad(rule["table"][:, order], ((0, 0), (0, 1)))}


def _fast(old: StateDict) -> StateDict:
    """The units did not move then: they begin to, and the larger memory has the same events."""
    names = ("key", "table", "theta", "P")
    n, units, outer = int(old["record"][0]), old["units"], old["outer"]
    n_kept = min(n, len(old["memory"]))
    events = np.arange(n - n_kept, n)
    memory = np.zeros((4096, old["memory"].shape[1]))
    memory[events % len(memory)] = old["memory"][events % len(old["memory"])]
    moving = np.zeros((4, *units.shape), np.float32)
    moving[[0, 3]] = units
    return {
        **{name: old[name] for name in names},
        "target": _statistics(old["target"]),
        "inputs": _with_statistics(old["inputs"]),
        "intervals": {**old["intervals"], "ratios": np.zeros((0, RATIOS))},
        "record": np.append(old["record"], [0.0, n_kept]),
        "units": moving,
        "mean_squares": np.diag(outer).copy(),
        "memory": memory,
        "drawn_at": old["redrawn"],
        "n_reset": 0,
    }


def _with_statistics(old: StateDict) -> StateDict:
    return {**old, "stats": _statistics(old["stats"])}


def _statistics(old: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return statistics of five rows with those that were added."""
    # Imported here, so that `import iln_stream` does not wait for numba.
    from iln_stream.kernels.columns import statistics_of

    new = statistics_of(*old[:3])
    new[3:5] = old[3:]
    return new


def _memory(old: StateDict) -> StateDict:
    return {name: value for name, value in old.items() if name != "predictions"} | {"since": 0}


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
        "since": 0,
        "rebuilding": [],
        **redraws,
        "stats": _statistics(redraws["stats"]),
    }
    return {"agop": ridges["outer"], "bank": bank, "resampler": resampler}
