"""The engines' states of release 0.1.0, in the form of version 3."""

from typing import Any

import numpy as np

from iln_stream.state import StateDict


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
    """Return the state of an `InfiniteLayerClassifier` of version 2 in version 3."""
    old = state["learned"]
    ridges = _resampled(old["ridges"], old)
    ridges["resampler"]["predictions"] = np.zeros((0, len(old["redraws"]["replaced_at"])))
    learned = {
        "counts": old["counts"],
        "classes": old["classes"],
        "inputs": old["inputs"],
        "memory": _memory(old["memory"]),
        "ridges": ridges,
        "linear": _bank(old["linear"]),
        "mixture": old["mixture"],
    }
    return {**state, "learned": learned}


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
    """The units did not move then: they begin to, and the larger memory has the same events."""
    names = ("key", "target", "table", "theta", "P", "inputs", "intervals")
    n, units, outer = int(old["record"][0]), old["units"], old["outer"]
    n_kept = min(n, len(old["memory"]))
    events = np.arange(n - n_kept, n)
    memory = np.zeros((4096, old["memory"].shape[1]))
    memory[events % len(memory)] = old["memory"][events % len(old["memory"])]
    moving = np.zeros((4, *units.shape), np.float32)
    moving[[0, 3]] = units
    return {
        **{name: old[name] for name in names},
        "record": np.append(old["record"], [0.0, n_kept]),
        "units": moving,
        "mean_squares": np.diag(outer).copy(),
        "memory": memory,
        "drawn_at": old["redrawn"],
        "n_reset": 0,
    }


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
