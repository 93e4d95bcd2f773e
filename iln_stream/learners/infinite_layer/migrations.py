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
        "inputs": _with_statistics(old["inputs"]),
        "target": _with_statistics(old["target"]),
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
        "inputs": _with_statistics(old["inputs"]),
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
        "inputs": _with_statistics(old["inputs"]),
        "target": _with_statistics(old["target"]),
        "memory": _memory(old["memory"]),
        "expert": {"rule": old["final"], "experts": {"mean": mean, "neighbours": neighbours}},
        "intervals": old["intervals"],
        "drift_means": old["drift_means"],
    }


def _fast(old: StateDict) -> StateDict:
    renamed = {"outer": "agop", "redrawn": "drawn_at", "newborn": "candidate"}
    new = {renamed.get(name, name): value for name, value in old.items()}
    statistics = {name: _statistics(old[name]) for name in ("target", "frame_stats")}
    return {**new, **statistics, "inputs": _with_statistics(old["inputs"])}


def _with_statistics(old: StateDict) -> StateDict:
    return {**old, "stats": _statistics(old["stats"])}


def _statistics(old: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return statistics of five rows with those that were added."""
    # Imported here, so that `import iln_stream` does not wait for numba.
    from iln_stream.learners.infinite_layer.engine.inputs import statistics_of

    new = statistics_of(*old[:3])
    new[3:5] = old[3:]
    return new


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
        "stats": _statistics(redraws["stats"]),
    }
    return {"agop": ridges["outer"], "bank": bank, "resampler": resampler}
