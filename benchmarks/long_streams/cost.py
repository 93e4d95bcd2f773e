"""What an event and a snapshot cost once the networks' ring is full.

    python -m benchmarks.long_streams.cost [--events 70000]

Predict and learn from dicts of ten inputs, in processor time, both profiles event by event in turn.
"""

import argparse
import statistics
from time import perf_counter, thread_time

import numpy as np

from benchmarks.long_streams.streams import STREAMS
from iln_stream import InfiniteLayerRegressor
from iln_stream.learners import state_of
from iln_stream.state import to_bytes

WARM_UP = 200
"""Events that are not timed: functions are compiled meanwhile."""

CAPTURES = 9


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
        us = 1e6 * np.array(times[name][WARM_UP:])
        captures = []
        for _ in range(CAPTURES):
            began = perf_counter()
            state = state_of(model)
            captures.append(1e3 * (perf_counter() - began))
        print(
            f"{name}: {np.median(us):.0f} us an event (median), {us.mean():.0f} (mean), "
            f"longest {us.max() / 1e3:.1f} ms; snapshot {len(to_bytes(state)) / 1e6:.1f} MB, "
            f"captured in {statistics.median(captures):.1f} ms (longest {max(captures):.1f})"
        )


if __name__ == "__main__":
    main()
