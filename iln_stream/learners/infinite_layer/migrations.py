"""The engines' states of release 0.1.0, in the form of version 3."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    """Networks and KRLS-T did not exist then: they begin now, and without weight."""
    redrawn = old["redraws"]["replaced_at"]
    sleepers = {
        "asleep": False, "share": 1.0, "n_learned": old["memory"]["n"], "n_alarms": 0,
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
            "moving": _moving(old["inputs"]["stats"].shape[1], old["redraws"]["key"]),
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


def _moving(n_columns: int, key: NDArray[np.uint64]) -> StateDict:
    """Return the state of new networks and a new KRLS-T."""
    # Imported here, so that only migrations wait for numba.
    from iln_stream.learners.infinite_layer.profiles.accurate import AccurateEngine

    moving = AccurateEngine(max(n_columns, 1), key).moving
    if n_columns:
        moving.widen(n_columns)
    return moving.state()


def _of_more_experts(rule: StateDict) -> StateDict:
    """Return the state of ML-Poly with one more expert, without regret, in today's order.

    `forgetting-rls`, which was the seventh, follows the ridges.
    """
    order = [0, 1, 2, 6, 3, 4, 5, 7, 8, 9]
    return {**rule, "table": np.pad(rule["table"][:, order], ((0, 0), (0, 1)))}


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
        "since": 0,
        **redraws,
    }
    return {"agop": ridges["outer"], "bank": bank, "resampler": resampler}
