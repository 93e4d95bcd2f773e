"""Writes this release's golden snapshot, once: `python tests/snapshots/golden/make.py`.

A release's file is never written again, so that every later release is tested to read it.
"""

import json
from pathlib import Path
from typing import Any

from prometheus_client.registry import CollectorRegistry
from river import base

from iln_stream import (
    InfiniteLayerRegressor,
    Pool,
    RandomFeatureRidge,
    ScaledTarget,
    ShrinkingGradient,
    WinsorisedScaler,
)
from iln_stream._version import __version__
from iln_stream.listeners import Metrics
from iln_stream.snapshots import Header, Snapshot, learner_state
from iln_stream.streams.river import RiverDatasetSource

FOLDER = Path(__file__).parent


def learners() -> dict[str, base.Regressor]:
    return {
        "sampled": ScaledTarget(
            WinsorisedScaler() | ShrinkingGradient(draws=40, budget=30, seed=11)
        ),
        "pool": ScaledTarget(
            WinsorisedScaler() | ShrinkingGradient(estimator=Pool(16), step=0.6, seed=11)
        ),
        "accurate": InfiniteLayerRegressor(seed=11),
        "fast": InfiniteLayerRegressor("fast", seed=11),
        "ridge": RandomFeatureRidge(n_features=16, seed=11),
    }


def event(number: int) -> tuple[dict[str, Any], float]:
    """An event by integer arithmetic alone, so that it is the same everywhere."""
    x = {
        name: (number * prime % 101) / 101 - 0.5
        for name, prime in zip("abc", (7, 31, 59), strict=True)
    }
    return x, 10 * x["a"] - 4 * x["b"] * x["c"]


def main() -> None:
    for name, learner in learners().items():
        watched = Metrics(CollectorRegistry(), 10).watch(learner, RiverDatasetSource([], "g"), "g")
        for number in range(60):
            learner.learn_one(*event(number))
        header = Header(
            stream="golden",
            positions={0: 60},
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
        for number in range(60, 90):
            learner.learn_one(*event(number))
        expected = [learner.predict_one(event(number)[0]) for number in range(90, 95)]
        (FOLDER / f"{__version__}-{name}.json").write_text(json.dumps(expected))


if __name__ == "__main__":
    main()
