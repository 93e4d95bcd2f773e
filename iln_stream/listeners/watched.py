"""One learner on one source, counted as it goes."""

import threading
from bisect import bisect_left
from time import perf_counter, time
from typing import Any

from iln_stream.events import DeadLetter
from iln_stream.learners import find_infinite_layer, find_shrinking_gradient
from iln_stream.prequential import Listener, Scores, Step
from iln_stream.state import Tree
from iln_stream.streams import Source

SECONDS = tuple(base * 10.0**power for power in range(-6, 1) for base in (1.0, 2.5, 5.0))
"""Upper bounds of the latency histogram's buckets: 1 microsecond to 5 seconds."""


_COUNTED_AT_ONCE = 100
"""Steps: enough that counting them together is cheap, and few enough to stay in a cache."""


class Watched(Listener):
    """One learner on one source: counts its steps, and lets Prometheus read the rest.

    An event costs no more here than keeping its step. Steps are counted many at once, or when
    somebody asks, which any thread may; everything else is computed when a scrape asks.
    """

    def __init__(self, learner: Any, source: Source, model: str, window: int) -> None:
        self.n_dead_letters = 0
        self.n_repeats = 0
        self._scores = Scores(window)
        self._bucket_counts = [0] * (len(SECONDS) + 1)
        self._total_seconds = 0.0
        self._last_progress = perf_counter()
        self._not_counted: list[Step] = []
        self._counting = threading.Lock()
        self.algorithm_1 = find_shrinking_gradient(learner)
        self.mixture = find_infinite_layer(learner)
        self.source = source
        self.labels = (model, str(source.partition))

    def on_step(self, step: Step) -> None:
        """Let the step count."""
        self._not_counted.append(step)
        if len(self._not_counted) >= _COUNTED_AT_ONCE:
            self._count()

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """Let the letter count."""
        self.n_dead_letters += 1
        self._last_progress = perf_counter()

    def on_repeat(self, offset: int) -> None:
        """Let the repeat count."""
        self.n_repeats += 1
        self._last_progress = perf_counter()

    def on_idle(self) -> None:
        """Having nothing to do is no hanging."""
        self._last_progress = perf_counter()

    @property
    def scores(self) -> Scores:
        """Running means, of all steps so far."""
        self._count()
        return self._scores

    @property
    def latency(self) -> tuple[list[int], float]:
        """How many steps took up to each of `SECONDS` or longer, and all their seconds."""
        self._count()
        return self._bucket_counts, self._total_seconds

    @property
    def last_progress(self) -> float:
        """When the loop last went on or had nothing to do, POSIX seconds."""
        self._count()
        return time() - (perf_counter() - self._last_progress)

    def state(self) -> Tree:
        """Return what was counted since the model's birth."""
        return {
            "scores": self.scores.state(),
            "n_dead_letters": self.n_dead_letters,
            "n_repeats": self.n_repeats,
        }

    def restore(self, state: Tree) -> None:
        """Go on counting from a `state()`."""
        self.scores.restore(state["scores"])
        self.n_dead_letters = state["n_dead_letters"]
        self.n_repeats = state["n_repeats"]

    def _count(self) -> None:
        """Count the steps that were only kept so far."""
        with self._counting:
            steps = self._not_counted[:]
            if not steps:
                return
            self._scores.update(steps)
            for step in steps:
                self._bucket_counts[bisect_left(SECONDS, step.seconds)] += 1
                self._total_seconds += step.seconds
            self._last_progress = max(self._last_progress, steps[-1].ended)
            del self._not_counted[: len(steps)]  # the loop may have appended to it meanwhile
