"""From a learner to the arrays that its frozen predictor needs."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.activations import COS
from iln_stream.kernels.columns import ABSENT, HIGH, LOW, UPPER
from iln_stream.kernels.fast import LAGS, N_FAST_LAGS
from iln_stream.kernels.gaussian_naive_bayes import LEAST_VARIANCE, PRIOR
from iln_stream.kernels.krls_t import N_POINTS, SCALE
from iln_stream.kernels.moving_units import AVERAGE
from iln_stream.kernels.networks import LONG, SEGMENTS, SHORT, padded, weights_of
from iln_stream.kernels.regression_event import WIDTH, center_and_unit, scaled
from iln_stream.kernels.replay_ring import MISSING, N_LAGS
from iln_stream.learners.estimators import HasFiniteLayer
from iln_stream.learners.frozen.predictors import FURTHEST
from iln_stream.learners.infinite_layer.accurate import AccurateEngine
from iln_stream.learners.infinite_layer.classes import (
    FREQUENCIES,
    NAIVE_BAYES,
    RANDOM,
    SCORES,
    SHARPNESS,
    ClassificationEngine,
)
from iln_stream.learners.infinite_layer.experts.forgetting_rls import ForgettingRLS
from iln_stream.learners.infinite_layer.experts.krls_t import KRLST
from iln_stream.learners.infinite_layer.experts.neighbours import Neighbours
from iln_stream.learners.infinite_layer.experts.networks import ReplayedNetwork, ReplayRing
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSBank
from iln_stream.learners.infinite_layer.fast import N_UNITS, FastEngine
from iln_stream.learners.infinite_layer.mixing import Mixture


def column_statistics(stats: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the statistics by which inputs are standardised, (7, d)."""
    return stats[: UPPER + 1].copy()


def target_scale(stats: NDArray[np.float64]) -> dict[str, float]:
    """Return center and unit of the target's scale."""
    center, unit = center_and_unit(stats)
    return {"center": float(center), "unit": float(unit)}


def last_targets(
    targets: NDArray[np.float64], n: int, stats: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the last targets, newest first, in standard deviations; 0 where there is none yet."""
    center, unit = center_and_unit(stats)
    return np.array(
        [WIDTH * scaled(y, center, unit) if n > i else 0.0 for i, y in enumerate(targets)]
    )


def rule(weights: NDArray[np.float64], awake: NDArray[np.bool_] | None = None) -> dict[str, Any]:
    """Return the weights (K,) of a rule, and which experts count."""
    return {
        "weights": weights.copy(),
        "awake": np.ones(len(weights), bool) if awake is None else awake.copy(),
    }


def ridges(bank: RLSBank) -> list[dict[str, Any]]:
    """Return units and weights of the ridges of a bank."""
    n_features = bank.n_units + 1 + bank.linear.shape[1]
    return [
        {
            "units": {
                "omega": bank.omega[k].copy(),
                "b": bank.b[k].copy(),
                "linear": bank.linear[k].copy(),
                "activation": "cos" if bank.activation[k] == COS else "relu",
            },
            "theta": bank.theta[k, ..., :n_features].copy(),
        }
        for k in range(len(bank.specs))
    ]


def encoded(ring: ReplayRing) -> dict[str, Any]:
    """Return how inputs are encoded for networks, with the last targets as they are now."""
    N, n = len(ring._targets), ring.n
    lags = np.full(N_LAGS, MISSING, np.float32)
    for lag in range(min(n, N_LAGS)):
        difference = ring._targets[(n - 1 - lag) % N] - ring.origins[lag]
        lags[lag] = np.clip(difference, -FURTHEST, FURTHEST)
    return {
        "encoding": ring.encoding.copy(),
        "origins": ring.origins[N_LAGS:].copy(),
        "lags": lags,
    }


def weights(network: ReplayedNetwork, rows: Iterable[int]) -> list[dict[str, Any]]:
    """Return the weights in these rows of a network's parameters: the latest ones, or averages."""
    shape, found = network.shape, []
    n_first, n_outputs, room = shape.first, shape.outputs, padded(shape)
    for row in rows:
        w = weights_of(network.parameters[row], shape)
        increments = w.columns[:, n_first + room :]
        found.append(
            {
                "W1": w.columns[:, :n_first].copy(),
                "b1": w.b1[0].copy(),
                "W2": w.W2.copy(),
                "b2": w.b2[0].copy(),
                "w3": w.w3.copy(),
                "b3": w.b3[0, :n_outputs].copy(),
                "skip": w.columns[:, n_first : n_first + n_outputs].copy(),
                "increments": increments.reshape(len(increments), SEGMENTS, shape.piecewise).copy(),
            }
        )
    return found


def parts_of_accurate(engine: AccurateEngine) -> dict[str, Any]:
    """Return the parts that `iln_stream.learners.frozen.predictors` predicts with."""
    target = engine.target.stats
    linear, forgetting = engine.mean.experts["linear"], engine.sleepers.experts["forgetting-rls"]
    assert isinstance(linear, RLSBank)
    assert isinstance(forgetting, ForgettingRLS)
    networks = [
        each
        for network in engine.networks.networks.values()
        for each in weights(network, network._rows.tolist())
    ]
    return {
        "stats": column_statistics(engine.inputs.stats),
        "lags": last_targets(engine.lags, engine.n, target),
        "ridges": ridges(engine.ridges.bank),
        "forgetting": forgetting.theta[: forgetting.n_features].copy(),
        "linear": ridges(linear),
        "first_order": _first_order(engine),
        "networks": networks,
        "encoded": encoded(engine.networks.ring),
        "krls_t": _process(engine.moving.experts["krls-t"]),
        "moving": _rule(engine.moving),
        "mean": _rule(engine.mean),
        "memory": _memory(engine),
        "last": _rule(engine.mixture),
        **target_scale(target),
    }


def _rule(mixture: Mixture) -> dict[str, Any]:
    return rule(mixture.rule.weights, mixture._awake())


def _first_order(engine: AccurateEngine) -> dict[str, Any]:
    iterate = engine.first_order._f
    assert isinstance(iterate, HasFiniteLayer)
    n_columns = len(engine.lags) + len(engine.inputs)
    layer, _ = iterate.finite_layer(None, n_columns, np.random.default_rng(0))
    return {"omega": layer.omega, "b": layer.b, "weights": layer.weights}


def _process(expert: Any) -> dict[str, Any]:
    assert isinstance(expert, KRLST)
    n = int(expert.record[N_POINTS])
    return {
        "points": expert.points[:, :n].copy(),
        "alpha": expert.alpha[:n].copy(),
        "scale": float(expert.record[SCALE]),
    }


def _memory(engine: AccurateEngine) -> dict[str, Any]:
    memory, n = engine.memory, engine.memory.filled
    expert = engine.mixture.experts["neighbours"]
    assert isinstance(expert, Neighbours)
    return {
        "columns": np.minimum(memory.columns[:, :n], ABSENT),
        "targets": memory.y[:n].copy(),
        "metric": expert.metric.copy(),
        "ordered": expert.ordered[:n].copy(),
        "carried": expert.carried[:n].copy(),
        "deviations": expert.deviations[:, :n].copy(),
        "scaled": expert.scaled[:n].copy(),
    }


def parts_of_classes(engine: ClassificationEngine) -> dict[str, Any]:
    """Return the parts that `iln_stream.learners.frozen.predictors` predicts with."""
    counts, bayes = engine.counts, engine.naive_bayes
    seen = bayes.counts[:, None] + PRIOR
    return {
        "stats": column_statistics(engine.inputs.stats),
        "ridges": [*ridges(engine.bank), *ridges(engine.linear)],
        "sharpness": SHARPNESS.copy(),
        "frequencies": (counts + 1.0) / (counts.sum() + len(counts)),
        "log_frequencies": engine._offsets.copy(),
        "naive_bayes": {
            "mean": bayes.mean * bayes.counts[:, None] / seen,
            "variance": (bayes.squares + PRIOR) / seen + LEAST_VARIANCE,
        },
        "networks": [
            each
            for network in engine.networks.networks.values()
            for each in weights(network, (SHORT, LONG))
        ],
        "encoded": encoded(engine.networks.ring),
        "rule": rule(engine.rule.weights, _awake(engine)),
        "correction": {
            "members": engine.correction.members.copy(),
            "weights": engine.correction.weights.copy(),
        },
        "mixture": engine.mixture.weights,
    }


def _awake(engine: ClassificationEngine) -> NDArray[np.bool_]:
    """Which experts count now."""
    awake = np.ones(len(engine.rule.weights), bool)
    awake[NAIVE_BAYES + 1 :] = not engine.networks.asleep
    by_sharpness = awake[:FREQUENCIES].reshape(-1, SCORES)
    by_sharpness[:, : len(RANDOM)] = np.logical_not(engine.ridges.asleep)
    return awake


def parts_of_fast(engine: FastEngine) -> dict[str, Any]:
    """Return the parts that `iln_stream.learners.frozen.predictors` predicts with."""
    units, target = engine.units[AVERAGE], engine.target
    n_inputs = len(units) - 1
    center, unit = center_and_unit(target)
    ends = [float(scaled(target[end, 0], center, unit)) for end in (LOW, HIGH)]
    return {
        "stats": column_statistics(engine.inputs.stats),
        "lags": last_targets(engine.record[LAGS : LAGS + N_FAST_LAGS], engine.n, target),
        "units": {
            "omega": units[:-1].copy(),
            "b": units[-1].copy(),
            "linear": [1.0] * n_inputs,
            "activation": "cos",
        },
        "theta": engine.theta[: N_UNITS + 1 + n_inputs].copy(),
        "rule": rule(engine.table[3]),
        "low": min(ends),
        "high": max(ends),
        **target_scale(target),
    }
