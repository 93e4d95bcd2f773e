"""Digests of predictions, to check that a change leaves the arithmetic as it was.

    python -m benchmarks.digests keep     # before the change
    python -m benchmarks.digests check    # after it, on the same machine

Bits differ between processor types, so digests are stored in `out/` and not committed.
"""

import hashlib
import json
import struct
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from river import datasets

from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.random_feature_ridge import RandomFeatureRidge
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler
from iln_stream.learners.shrinking_gradient import ShrinkingGradient

KEPT = Path("out/digests.json")
EVENTS = 3_000

Stream = Iterator[tuple[dict[str, float], float]]


def _numbers(pairs: Any) -> Stream:
    """Yield numeric inputs and the label as a number."""
    for x, y in pairs:
        yield {str(k): float(v) for k, v in x.items() if isinstance(v, (int, float))}, float(y)


def _gaussian(d: int, target: Callable[[Any, int], float]) -> Stream:
    rng = np.random.default_rng(5)
    for n, row in enumerate(rng.normal(size=(EVENTS, d))):
        yield dict(zip("abcdefghij", row.tolist(), strict=False)), target(row, n)


def _columns_that_come(rows: Stream) -> Stream:
    for n, (x, y) in enumerate(rows):
        yield {name: v for i, (name, v) in enumerate(x.items()) if n >= 200 * i}, y


STREAMS: dict[str, Callable[[], Stream]] = {
    "friedman": lambda: _numbers(datasets.synth.Friedman(seed=1)),
    "trump": lambda: _numbers(datasets.TrumpApproval()),
    "phishing": lambda: _numbers(datasets.Phishing()),
    "product": lambda: _gaussian(4, lambda row, _: float(row[0] * row[1])),
    "drifting": lambda: _gaussian(6, lambda row, n: float(row[0] * np.cos(n / 500) + row[1])),
    "columns": lambda: _columns_that_come(_gaussian(8, lambda row, _: float(row.sum()))),
}

LEARNERS: dict[str, Callable[[], Any]] = {
    "accurate": lambda: InfiniteLayerRegressor(seed=1),
    "fast": lambda: InfiniteLayerRegressor("fast", seed=1),
    "ridge": lambda: RandomFeatureRidge(seed=1, forgetting=0.999),
    "sampled": lambda: ScaledTarget(
        WinsorisedScaler() | ShrinkingGradient(budget=500, max_draws=500, seed=1)
    ),
    "classifier": lambda: InfiniteLayerClassifier(seed=1),
}


def digest(learner: Any, stream: Stream, classes: bool) -> str:
    """Return the SHA-256 of all predictions, each made before its label was learned."""
    found = hashlib.sha256()
    for x, y in islice(stream, EVENTS):
        if classes:
            label = y > 0.5
            found.update(struct.pack("<d", learner.predict_proba_one(x).get(True, 0.0)))
            learner.learn_one(x, label)
        else:
            found.update(struct.pack("<d", learner.predict_one(x)))
            learner.learn_one(x, y)
    return found.hexdigest()


def main() -> int:
    """Store the digests, or compare them with the stored ones."""
    now = {
        f"{name} on {stream}": digest(make(), make_stream(), name == "classifier")
        for name, make in LEARNERS.items()
        for stream, make_stream in STREAMS.items()
    }
    if sys.argv[1:] == ["keep"]:
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_text(json.dumps(now, indent=1))
        return 0
    kept = json.loads(KEPT.read_text())
    changed = [cell for cell in kept if kept[cell] != now[cell]]
    print("\n".join(f"changed: {cell}" for cell in changed) or f"{len(kept)} digests are equal")
    return int(bool(changed))


if __name__ == "__main__":
    sys.exit(main())
