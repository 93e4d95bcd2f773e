"""The streams and models of the demo."""

from collections.abc import Callable
from typing import Any, NamedTuple

from river import base, datasets, dummy, linear_model, neighbors, preprocessing, stats, tree

from iln_stream.learners import InfiniteLayerRegressor
from iln_stream.service import pool, shrinking_gradient

OURS = "InfiniteLayerRegressor"
OUR_ALGORITHM_1 = "ShrinkingGradient"
OUR_POOL = "pool of 512 features"


class DemoStream(NamedTuple):
    """A stream of the demo: title, River data set and number of events."""

    title: str
    dataset: Any
    n_events: int


def streams(seed: int) -> list[DemoStream]:
    """Return a real stream bundled with River, and a synthetic one that drifts twice."""
    n = 3000
    return [
        DemoStream("TrumpApproval", datasets.TrumpApproval(), datasets.TrumpApproval().n_samples),
        DemoStream(
            "FriedmanDrift",
            datasets.synth.FriedmanDrift(
                drift_type="gra", position=(n // 3, 2 * n // 3), seed=seed
            ),
            n,
        ),
    ]


def contenders(seed: int) -> dict[str, Callable[[], base.Regressor]]:
    """Return factories of our learners and of common River models, by name."""
    return {
        OURS: lambda: InfiniteLayerRegressor(seed=seed),
        OUR_ALGORITHM_1: lambda: shrinking_gradient(seed),
        OUR_POOL: lambda: pool(seed),
        "LinearRegression": lambda: _scaled(linear_model.LinearRegression()),
        "KNNRegressor": lambda: _scaled(neighbors.KNNRegressor()),
        "HoeffdingAdaptiveTree": lambda: _scaled(tree.HoeffdingAdaptiveTreeRegressor(seed=seed)),
        "last value": lambda: dummy.StatisticRegressor(stats.Shift(0, fill_value=0.0)),
        "running mean": lambda: dummy.StatisticRegressor(stats.Mean()),
    }


def shrinking_run(seed: int) -> base.Regressor:
    """Return a learner that shrinks, as its norm bound is far too small for its step."""
    return shrinking_gradient(seed, norm_bound=0.02, step=0.1)


def _scaled(regressor: base.Regressor) -> base.Regressor:
    return preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(regressor)
