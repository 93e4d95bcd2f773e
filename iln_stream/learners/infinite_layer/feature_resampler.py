"""Redrawing experts from what was learned, a little at each event."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled.target import FENCE
from iln_stream.learners.infinite_layer.inputs import Inputs, no_statistics
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.part import Part
from iln_stream.learners.infinite_layer.rls_bank import Frame, RLSBank, RLSState
from iln_stream.learners.infinite_layer.target import Target

FIRST = 64
"""Number of events before the first redraw."""

SLICE = 64
"""Number of stored events to replay per new event."""

NEVER = 2**62


class FeatureResampler(Part):
    """Gives experts new hidden units where the learned function varies.

    After 64, 128, 256, ... events, as long as the memory holds all of them, each expert's units are
    redrawn from its prior as reshaped by the gradients. The candidate expert is trained on the
    memory, 64 stored events per new event, until it has caught up and replaces the old one. One
    candidate is trained at a time.

    Once the memory has lost history, a candidate has seen fewer events than the old expert, but
    perhaps with better units or from a more relevant period: it takes over only if it predicts the
    later half of the memory better, while learning it, than the old expert did. This applies to
    most experts at the last doubling, as their turn comes some events after it. An expert marked
    `renewed` is redrawn each time the memory's events have all been replaced.

    Parameters
    ----------
    key
        Two words that seed the draws.

    """

    kept = (
        "key", "next_at", "began_at", "waiting", "expert", "cursor", "judged_from", "lost", "stats",
        "scale", "replaced_at",
    )  # fmt: skip

    def __init__(self, key: NDArray[np.uint64], n_experts: int) -> None:
        self.key = key
        self.next_at = FIRST
        self.began_at = 0  # number of events at which the last round of redraws began
        self.waiting: list[int] = []
        self.expert = -1  # index of the expert being redrawn; -1: none
        self.cursor = 0  # the candidate's next event
        self.judged_from = 0  # the first event on which it is scored
        self.lost = np.zeros(2)  # sums of |errors| from there on: old expert, candidate
        self.stats = np.zeros((5, 0))
        self.scale = np.zeros(2)
        self.replaced_at = np.zeros(n_experts, np.int64)
        self._newborn: RLSState | None = None

    def rng(self, n: int, k: int) -> np.random.Generator:
        """Return the generator of expert k's draws at event n."""
        counter = np.array([0, 0, n, k], dtype=np.uint64)
        return np.random.Generator(np.random.Philox(key=self.key, counter=counter))

    def columns_came(self, ridges: RLSBank, memory: Memory) -> None:
        """Schedule a redraw to use new columns, but not so soon that redrawing never ends."""
        soon = max(memory.n + FIRST, self.began_at + memory.filled // 4)
        self.next_at = min(self.next_at, soon)
        if self._newborn is not None:
            self._newborn = ridges.widened(self._newborn)
            fresh = no_statistics(len(memory.columns) - self.stats.shape[1])
            self.stats = np.concatenate([self.stats, fresh], axis=1)

    def start_over(self) -> None:
        """Discard the candidate, which now lacks a class, and put its expert first in the queue."""
        if self._newborn is not None:
            self._newborn = None
            self.waiting.insert(0, self.expert)

    def work(self, ridges: RLSBank, inputs: Inputs, target: Target, memory: Memory) -> int | None:
        """Do an event's share of work; return the index of a replaced expert, else None."""
        n = memory.n
        if n >= self.next_at and not self.waiting and self._newborn is None:
            whole = n <= len(memory.y)
            self.waiting = [k for k, e in enumerate(ridges.experts) if whole or e.renewed]
            self.began_at = n
            self.next_at = n + memory.filled
        if self._newborn is None:
            if not self.waiting:
                return None
            self._begin(self.waiting.pop(0), ridges, inputs, target, memory)
        return self._go_on(ridges, memory)

    def _begin(
        self, k: int, ridges: RLSBank, inputs: Inputs, target: Target, memory: Memory
    ) -> None:
        self.expert = k
        self._newborn = ridges.newborn(ridges.drawn(k, self.rng(memory.n, k)))
        self.cursor = memory.n - memory.filled
        # While the memory holds all history, the candidate sees as much as the old expert.
        whole = self.cursor == 0
        self.judged_from = NEVER if whole else self.cursor + memory.filled // 2
        self.lost[:] = 0.0
        self.stats = inputs.stats.copy()
        self.scale = np.array([target.center, target.unit])

    def _go_on(self, ridges: RLSBank, memory: Memory) -> int | None:
        k, new = self.expert, self._newborn
        assert new is not None
        first, last = self.cursor, min(self.cursor + SLICE, memory.n)
        error = ridges.replay(k, new, memory, first, last, Frame(self.stats, self.scale))
        self.cursor = last
        if first >= self.judged_from:
            i = np.arange(first, last) % len(memory.y)
            old = np.abs(self._scaled(memory.predictions[i, k]) - self._scaled(memory.y[i]))
            self.lost += old.sum(), error
        if last < memory.n:
            return None
        self._newborn = None
        if self.judged_from < NEVER and self.lost[1] >= self.lost[0]:
            return None
        ridges.put(k, new)
        self.replaced_at[k] = memory.n
        return k

    def _scaled(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return targets on the candidate's scale, clipped like its own."""
        center, unit = self.scale
        return np.clip((y - center) / unit, -FENCE, FENCE)

    def state(self) -> dict[str, Any]:
        """Return the state, including the candidate."""
        new = self._newborn
        newborn = None if new is None else {k: v.copy() for k, v in new._asdict().items()}
        return super().state() | {"newborn": newborn}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned."""
        super().restore(state)
        new = state["newborn"]
        self._newborn = None if new is None else RLSState(**{k: v.copy() for k, v in new.items()})
