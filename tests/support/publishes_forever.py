"""A program that learns a stream from its beginning, as after a crash without snapshots.

Usage: python publishes_forever.py PATH
"""

import sys

import numpy as np

from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.snapshots.publisher import Publisher


def main(path: str) -> None:
    """Learn and publish until killed."""
    learner = InfiniteLayerRegressor(profile="fast", seed=1)
    rng = np.random.default_rng(1)
    with Publisher(path, learner, seconds=0.001, resumable=True) as publisher:
        for offset in range(10**9):
            values = rng.standard_normal(40).tolist()
            learner.learn_one({f"v{j}": value for j, value in enumerate(values)}, values[0])
            publisher.learned(0, offset)


if __name__ == "__main__":
    main(sys.argv[1])
