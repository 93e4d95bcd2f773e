"""Profile accurate."""

from typing import Any

import numpy as np

from iln_stream.compiled.krls_t import N_POINTS, SCALE
from iln_stream.compiled.standardise import ABSENT
from iln_stream.frozen.extraction.common import (
    column_statistics,
    last_targets,
    rule,
    target_scale,
)
from iln_stream.frozen.extraction.parts import encoded, ridges, weights
from iln_stream.learners.estimators import HasFiniteLayer
from iln_stream.learners.infinite_layer.aggregation.mixture import Mixture
from iln_stream.learners.infinite_layer.experts.forgetting_rls import ForgettingRLS
from iln_stream.learners.infinite_layer.experts.krls_t import KRLST
from iln_stream.learners.infinite_layer.experts.neighbours import Neighbours
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSBank
from iln_stream.learners.infinite_layer.profiles.accurate import AccurateEngine


def parts_of(engine: AccurateEngine) -> dict[str, Any]:
    """Return the parts that `iln_stream.frozen.infinite_layer.accurate` predicts with."""
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
