"""Writes the golden files of a release: `python tests/snapshots/golden/make.py`.

Run it once for a release, when `iln_stream/_version.py` has its number and nothing that a state
consists of will change, and commit the files: for each learner below a snapshot after 60 events,
and what the learner predicts after 30 more. They are never written again, so that every later
release is tested to read them.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from prometheus_client.registry import CollectorRegistry
from river import base

from iln_stream._version import __version__
from iln_stream.learners.contest.classifier import ContestClassifier
from iln_stream.learners.contest.regressor import ContestRegressor
from iln_stream.learners.estimators.growing_pool import GrowingPool
from iln_stream.learners.estimators.pool import Pool
from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.random_feature_ridge import RandomFeatureRidge
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.keyed.regressor import KeyedRegressor
from iln_stream.learners.preprocessing.change_of_target import ChangeOfTarget, RatioToLevel
from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler
from iln_stream.learners.quantiles import QuantileRegressor
from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.loop.metrics import Metrics
from iln_stream.snapshots import Header, Snapshot, learner_state
from iln_stream.streams import StreamPartition
from iln_stream.streams.river import RiverDatasetSource

FOLDER = Path(__file__).parent


def learners() -> dict[str, base.Estimator]:
    """A learner of each kind."""
    return {
        "sampled": ScaledTarget(
            WinsorisedScaler() | ShrinkingGradient(draws=40, budget=30, seed=11)
        ),
        "pool": ScaledTarget(
            WinsorisedScaler() | ShrinkingGradient(estimator=Pool(16), step=0.6, seed=11)
        ),
        "growing-pool": ShrinkingGradient(estimator=GrowingPool(8), step=0.6, seed=11),
        "averaged": ShrinkingGradient(estimator="averaged", draws=40, seed=11),
        "accurate": InfiniteLayerRegressor(seed=11),
        "fast": InfiniteLayerRegressor("fast", seed=11),
        "change": ChangeOfTarget(InfiniteLayerRegressor("fast", seed=11), "a"),
        "ratio": RatioToLevel(InfiniteLayerRegressor("fast", seed=11), "a", "b"),
        "quantiles": QuantileRegressor(InfiniteLayerRegressor("fast", seed=11)),
        "ridge": RandomFeatureRidge(n_features=16, seed=11),
        "classifier": InfiniteLayerClassifier(seed=11),
        "keyed": KeyedRegressor("c", RandomFeatureRidge(n_features=16, seed=11)),
        "contest": ContestRegressor(
            {
                "fast": InfiniteLayerRegressor("fast", seed=11),
                "ridge": RandomFeatureRidge(n_features=16, seed=11),
            },
            mixture=True,
        ),
        "contest-of-classes": ContestClassifier({"a": InfiniteLayerClassifier(seed=11)}),
    }


def event(number: int) -> tuple[dict[str, Any], float]:
    """An event by integer arithmetic alone, so that it is the same everywhere."""
    x = {
        name: (number * prime % 101) / 101 - 0.5
        for name, prime in zip("abc", (7, 31, 59), strict=True)
    }
    return x, 10 * x["a"] - 4 * x["b"] * x["c"]


def learn(learner: Any, numbers: Iterable[int]) -> None:
    """Let a learner learn these events."""
    for number in numbers:
        x, y = event(number)
        learner.learn_one(x, y > 0 if isinstance(learner, base.Classifier) else y)


def predictions(learner: Any) -> list[float]:
    """What a learner predicts for five events to come."""
    inputs = [event(number)[0] for number in range(90, 95)]
    if isinstance(learner, base.Classifier):
        return [learner.predict_proba_one(x)[True] for x in inputs]
    return [learner.predict_one(x) for x in inputs]


def main() -> None:
    for name, learner in learners().items():
        watched = Metrics(CollectorRegistry(), 10).watch(learner, RiverDatasetSource([], "g"), "g")
        learn(learner, range(60))
        header = Header(
            stream="golden",
            positions={StreamPartition("golden", 0): 60},
            topic_id="1b4e28ba-2fa1-11d2-883f-0016d3cca427",
            n_partitions=1,
            epoch=1,
            configuration={"learner": name},
            seed=11,
            saved_at="2026-01-31T12:00:00.000+00:00",
        )
        state = {
            "learner": learner_state(learner, allow_pickle=False),
            "counts": watched.state(),
            "recent_ids": {"ids": ["a", "b"], "labels": ["a"]},
        }
        with (FOLDER / f"{__version__}-{name}.snapshot").open("xb") as file:
            Snapshot(header, state).write(file)
        learn(learner, range(60, 90))
        (FOLDER / f"{__version__}-{name}.json").write_text(json.dumps(predictions(learner)))


if __name__ == "__main__":
    main()
