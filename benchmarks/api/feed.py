"""Appends events to a log at a rate: `python -m benchmarks.api.feed ADDRESS RATE COUNT`."""

import random
import sys
from time import perf_counter, sleep

from iln_stream.streams import NewRecord, StreamOptions, stream_at

GROUP = 500
INPUTS = 10


def feed(address: str, rate: float, count: int) -> None:
    """Append `count` events in groups, at the rate."""
    draw = random.Random(3)
    made = [record(draw) for _ in range(5000)]
    appender = stream_at(address, StreamOptions()).appender()
    begun = perf_counter()
    for done in range(0, count, GROUP):
        sleep(max(0.0, begun + done / rate - perf_counter()))
        appender.append([made[i % len(made)] for i in range(done, min(done + GROUP, count))])
    appender.close()


def record(draw: random.Random) -> NewRecord:
    """Return an event with a label that its inputs explain."""
    x = [draw.uniform(-1, 1) for _ in range(INPUTS)]
    y = x[0] * x[1] + abs(x[2]) + draw.gauss(0, 0.1)
    inputs = ", ".join(f'"x{j}": {value:.6f}' for j, value in enumerate(x))
    return NewRecord(f'{{"x": {{{inputs}}}, "y": {y:.6f}}}'.encode())


if __name__ == "__main__":
    address, rate, count = sys.argv[1:]
    feed(address, float(rate), int(count))
