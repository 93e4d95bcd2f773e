"""What an event and a snapshot cost once the networks' ring is full.

    python -m benchmarks.long_streams.cost [--events 70000]

Predict and learn from dicts of ten inputs, in processor time, both profiles event by event in turn.
"""

import argparse
import statistics
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, thread_time

import numpy as np

from benchmarks.long_streams.streams import STREAMS
from iln_stream.learners import state_of
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.snapshots import Header, Snapshot, SnapshotFolder, learner_state

WARM_UP = 200
"""Events that are not timed: functions are compiled meanwhile."""

AWAKE = 4_096
"""Until then, ridges don't sleep."""

CAPTURES = 9

BETWEEN = 10_000
"""Events from one snapshot to the next."""


def store(model: InfiniteLayerRegressor, folder: Path) -> int:
    """Store a snapshot of the model; return the bytes written."""
    header = Header("cost", {0: model.n_learned}, None, 1, 1, {}, seed=1, saved_at="")
    state = {"learner": learner_state(model, allow_pickle=False)}
    return SnapshotFolder(folder).write(Snapshot(header, state))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.long_streams.cost")
    parser.add_argument("--events", type=int, default=70_000)
    n = parser.parse_args().events
    models = {name: InfiniteLayerRegressor(name, seed=1) for name in ("accurate", "fast")}
    times: dict[str, list[float]] = {name: [] for name in models}
    for x, y in STREAMS["one-layer"].events(n, 9):
        for name, model in models.items():
            began = thread_time()
            model.predict_one(x)
            model.learn_one(x, y)
            times[name].append(thread_time() - began)
    for name, model in models.items():
        with TemporaryDirectory() as folder:
            written = [store(model, Path(folder))]
            for x, y in STREAMS["one-layer"].events(BETWEEN, 10):
                model.learn_one(x, y)
            written.append(store(model, Path(folder)))
        us = 1e6 * np.array(times[name][WARM_UP:])
        awake, later = us[: AWAKE - WARM_UP], us[AWAKE - WARM_UP :]
        captures = []
        for _ in range(CAPTURES):
            began = perf_counter()
            state_of(model)
            captures.append(1e3 * (perf_counter() - began))
        print(
            f"{name}: {us.mean():.0f} us an event, up to event {AWAKE:,} {awake.mean():.0f} and "
            f"{later.mean():.0f} later, longest {us.max() / 1e3:.1f} ms; snapshot "
            f"{written[0] / 1e6:.1f} MB, captured in {statistics.median(captures):.1f} ms (longest "
            f"{max(captures):.1f}); {BETWEEN:,} events later {written[1] / 1e6:.1f} MB more"
        )


if __name__ == "__main__":
    main()
