"""A million keys in the service: events a second, memory, disk, and pauses of checkpoints."""

import gc
import json
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.keyed import KEYS_FILE, KeyFile, StoredKeys, new_row
from iln_stream.learners.keyed.regressor import KeyedRegressor
from iln_stream.loop import Listener, Step
from iln_stream.service import Service, Settings
from iln_stream.streams.sqlite import SqliteSink

Result = dict[str, Any]


def throughput(n_keys: int, n_events: int, exponent: float, d: int = 5) -> Result:
    """Let `iln-stream run` learn one event of each key, and then events by Zipf's law.

    Rates are events per second of processor time, of all threads of the process; decoding,
    predictions of all events, metrics, snapshots and the file of keys included.
    """
    rng = np.random.default_rng(18)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        p = 1.0 / np.arange(1, n_keys + 1) ** exponent
        by_law = rng.choice(n_keys, n_events, p=p / p.sum())
        keys = np.concatenate([rng.permutation(n_keys), by_law])
        level, slopes = rng.normal(size=n_keys), 0.5 * rng.normal(size=(n_keys, d))
        sink = SqliteSink(folder / "log.db", "events", 0)
        for start in range(0, len(keys), 50_000):
            part = keys[start : start + 50_000]
            x = rng.normal(size=(len(part), d))
            y = np.sin(2 * x[:, 0]) + level[part] + (slopes[part] * x).sum(1)
            y += 0.5 * rng.normal(size=len(part))
            for key, values, target in zip(part.tolist(), x.tolist(), y.tolist(), strict=True):
                inputs = {f"x{i}": round(v, 4) for i, v in enumerate(values)}
                event = {"x": {"customer": f"customer-{key}", **inputs}, "y": round(target, 4)}
                sink.write(None, json.dumps(event).encode())
            sink.flush()
        sink.close()
        watch = _Watch(n_keys)
        settings = Settings.load(
            source=f"sqlite:{folder / 'log.db'}", by_key="customer", stop_at_end=True,
            learner_options='{"profile": "fast"}', snapshots=str(folder / "s"), metrics_port=0,
        )  # fmt: skip
        Service(settings, listeners=[watch]).run()
        ended = time.process_time()
        (file,) = (folder / "s").rglob(KEYS_FILE)
        size = sum(each.stat().st_size for each in file.parent.glob(f"{KEYS_FILE}*"))
        return {
            "keys": n_keys,
            "events by Zipf's law": n_events,
            "distinct keys among these": len(np.unique(by_law)),
            "events/s, one event of each key": n_keys / (watch.reached - watch.began),
            "events/s, Zipf": n_events / (ended - watch.reached),
            "peak memory, GiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
            "bytes on disk of a key": size / n_keys,
            "mae, last tenth": float(np.mean(watch.errors[-n_events // 10 :])),
        }


class _Watch(Listener):
    """Notes the processor time when the keys are all there."""

    def __init__(self, n_keys: int) -> None:
        self.n_keys, self.n = n_keys, 0
        self.began = self.reached = 0.0
        self.errors: list[float] = []

    def on_step(self, step: Step) -> None:
        """Count."""
        if self.n == 0:
            self.began = time.process_time()
        self.n += 1
        if self.n == self.n_keys:
            self.reached = time.process_time()
        self.errors.append(abs(step.y - step.y_pred))


def checkpoint(n_keys: int, share: float, repeats: int) -> Result:
    """Measure the longest event while the states of changed keys are copied and written."""
    rng = np.random.default_rng(18)
    with tempfile.TemporaryDirectory() as name:
        file = KeyFile(Path(name) / KEYS_FILE, run=1)
        keys = StoredKeys(file, len(new_row()), n_keys, keep=3)
        learner = KeyedRegressor("key", InfiniteLayerRegressor("fast", seed=1))
        learner.keep_keys_in(keys)
        x = {f"x{i}": 0.1 * i for i in range(10)}
        for t in range(2000):
            event = {**x, "x0": float(t % 7), "key": f"k{t}"}
            learner.predict_one(event)
            learner.learn_one(event, float(t % 5))
        pattern = keys.get("k7").copy()  # type: ignore[union-attr]
        for k in range(n_keys):
            keys.to_learn(f"k{k}")[:] = pattern
        keys.capture()()
        gc.collect()
        gc.freeze()  # as the service does: modules take a fifth of a second to visit
        pauses, copies, quiet = [], [], []
        for _ in range(repeats):
            for k in rng.choice(n_keys, int(share * n_keys), replace=False).tolist():
                keys.to_learn(f"k{k}")[0] += 1.0
            quiet.append(_longest(learner, x, 2000, lambda: True))
            began, used = time.perf_counter(), time.thread_time()
            state = learner.state()
            write = keys.capture()
            copies.append((time.perf_counter() - began, time.thread_time() - used))
            assert state
            waiting = keys._waiting[-1][1]
            pauses.append(_longest(learner, x, 2000, waiting.done))
            write()
            keys.stored()
        keys.close()
        return {
            "keys": n_keys,
            "changed": int(share * n_keys),
            "copying, ms": [round(1e3 * wall, 2) for wall, _ in copies],
            "copying, ms of the thread's processor time": [
                round(1e3 * own, 2) for _, own in copies
            ],
            "longest event meanwhile, ms": [round(1e3 * wall, 2) for wall, _ in pauses],
            "longest event meanwhile, ms of the thread's processor time": [
                round(1e3 * own, 2) for _, own in pauses
            ],
            "longest event without a checkpoint, ms": [round(1e3 * wall, 2) for wall, _ in quiet],
        }


def _longest(
    learner: Any, x: dict[str, float], least: int, done: Callable[[], bool]
) -> tuple[float, float]:
    """Return the longest of at least so many events, until `done`: seconds, and of processor."""
    n, longest, own = 0, 0.0, 0.0
    while n < least or not done():
        event = {**x, "x0": float(n % 7), "key": f"k{n % 1000}"}
        began, used = time.perf_counter(), time.thread_time()
        learner.predict_one(event)
        learner.learn_one(event, float(n % 5))
        longest = max(longest, time.perf_counter() - began)
        own = max(own, time.thread_time() - used)
        n += 1
    return longest, own
