"""Watches streams of differences at every event."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.promotions.differences import CHUNK, Chunk
from iln_stream.learners.contest import Evidence


def events_to_promotion(
    chunks: Iterator[Chunk], n_streams: int, n_events: int
) -> NDArray[np.float64]:
    """Return, for each stream, the events until the challenger is better; inf if it never is."""
    found = np.full(n_streams, np.inf)
    watched = {stream: Evidence(error=0.05) for stream in range(n_streams)}
    for begun in range(0, n_events, CHUNK):
        columns = next(chunks).T.tolist()
        for stream, evidence in [*watched.items()]:
            update = evidence.update
            for n, difference in enumerate(columns[stream], begun + 1):
                update(difference)
                if evidence.is_better:
                    found[stream] = n
                    del watched[stream]
                    break
        if not watched:
            break
    return found
