"""Ridge experts whose hidden units are drawn where the learned function varies."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.columns import no_statistics
from iln_stream.kernels.program import Call, Step
from iln_stream.kernels.regression_event import FENCE, unscale
from iln_stream.kernels.ridges import ReplayStatistics
from iln_stream.learners.infinite_layer.expert import Observation, Vector
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSBank, RLSState
from iln_stream.learners.infinite_layer.experts.sleepers import Sleeper
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.part import Part, from_state, to_state
from iln_stream.learners.infinite_layer.target import Target
from iln_stream.state import all_finite

FIRST = 64
"""Number of events before the first redraw."""

SLICE = 64
"""Number of stored events to replay per new event."""

NEVER = 2**62

ENOUGH = 1024
"""Number of events after a change of level or scale of which candidates can learn enough."""


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

    After a change of the level or scale of the target or of an input, the memory's older events
    would teach a candidate the wrong level. So candidates wait until there are 1024 newer events,
    or as many as there were older ones, and learn only those. `key`, two words, seeds the draws.
    """

    kept = (
        "key", "next_at", "began_at", "waiting", "candidate_of", "cursor", "scored_from", "losses",
        "stats", "scale", "predictions", "since", "rebuilding",
    )  # fmt: skip
    own = ("candidate",)
    fixed = ("key", "losses", "scale", "predictions")

    def __init__(
        self,
        bank: RLSBank,
        inputs: Inputs,
        target: Target,
        memory: Memory,
        key: NDArray[np.uint64],
    ) -> None:
        self.bank = bank
        self.inputs = inputs
        self.target = target
        self.memory = memory
        self.key = key
        self.since = 0  # number of events after which the experts began: they learn no earlier ones
        self.next_at = FIRST
        self.began_at = 0  # number of events at which the last round of redraws began
        self.waiting: list[int] = []
        self.rebuilding: list[int] = []  # experts that sleep until a candidate replaces them
        self.candidate_of = -1  # index of the expert being redrawn; -1: none
        self.cursor = 0  # the candidate's next event
        self.scored_from = 0  # the first event on which it is scored
        self.losses = np.zeros(2)  # weighted sums of |errors| from there on: old, candidate
        self.stats = no_statistics(0)
        self.scale = np.zeros(2)
        # What the experts predicted for the events in the memory, in units of the target.
        self.predictions = np.zeros((len(memory.y) if bank.scored else 0, len(bank.specs)))
        self._candidate: RLSState | None = None

    @property
    def asleep(self) -> bool | NDArray[np.bool_]:
        """Which experts (K,) wait for a candidate; False for none."""
        waiting = np.isin(np.arange(len(self.bank.specs)), self.rebuilding)
        return waiting if waiting.any() else False

    def draw_first(self, agop: NDArray[np.float64]) -> None:
        """Give every expert its first units."""
        for k in range(len(self.bank.specs)):
            self.bank.put(k, self._drawn(k, self.since, agop), self.since)

    def draw(self, k: int, agop: NDArray[np.float64]) -> None:
        """Give expert k new units, without weights."""
        self.bank.put(k, self._drawn(k, self.memory.n, agop), self.memory.n)

    def rebuild(self, experts: list[int]) -> None:
        """Put experts that have lost their weights first in the queue; any candidate will do."""
        for k in experts:
            if self._candidate is not None and self.candidate_of == k:
                self._candidate = None
        self.waiting = experts + [k for k in self.waiting if k not in experts]
        self.rebuilding += [k for k in experts if k not in self.rebuilding]

    def reinitialise(self, broken: Collection[str]) -> None:
        """Discard a broken candidate; take broken predictions for those of the mean."""
        self.predictions[~np.isfinite(self.predictions)] = self.target.center
        if not {"predictions"}.issuperset(broken):
            self.losses[:] = 0.0
            self.scale = np.array([self.target.center, self.target.unit])
            self.stats = self.inputs.stats.copy()
            self.start_over()

    def _drawn(self, k: int, n: int, agop: NDArray[np.float64]) -> RLSState:
        """Return an untrained expert k, with units drawn at event n from its reshaped prior."""
        counter = np.array([0, 0, n, k], dtype=np.uint64)
        rng = np.random.Generator(np.random.Philox(key=self.key, counter=counter))
        prior = self.bank.specs[k].prior
        assert prior is not None
        return self.bank.untrained(prior.draw(self.bank.n_units, agop[k], self.bank.n_lags, rng))

    def begin_anew(self, agop: NDArray[np.float64]) -> None:
        """Give every expert units without weights, as at first; forget the past."""
        self.since = self.began_at = self.memory.n
        self.next_at = self.since + FIRST
        self.waiting, self.rebuilding, self._candidate = [], [], None
        self.draw_first(agop)

    @property
    def _available(self) -> int:
        """Number of events in the memory that the experts may learn: the last ones."""
        return min(self.memory.filled, self.memory.n - self.since)

    def schedule_redraw_for_new_columns(self) -> None:
        """Schedule a redraw to use new columns, but not so soon that redrawing never ends."""
        memory = self.memory
        soon = max(memory.n + FIRST, self.began_at + self._available // 4)
        self.next_at = min(self.next_at, soon)
        if self._candidate is not None:
            self._candidate = self.bank.widened(self._candidate)
            fresh = no_statistics(len(self.inputs) - self.stats.shape[1])
            self.stats = np.concatenate([self.stats, fresh], axis=1)

    def start_over(self) -> None:
        """Discard the candidate, and put its expert first in the queue."""
        if self._candidate is not None:
            self._candidate = None
            self.waiting.insert(0, self.candidate_of)

    def advance(self, agop: NDArray[np.float64]) -> None:
        """Do an event's share of a redraw, given the experts' gradients (K, d, d)."""
        n, memory = self.memory.n, self.memory
        if n >= self.next_at and not self.waiting and self._candidate is None:
            whole = n - self.since <= len(memory.y)
            self.waiting = [k for k, e in enumerate(self.bank.specs) if whole or e.renewed]
            self.began_at = n
            self.next_at = n + self._available
        if self._candidate is None:
            if not self.waiting or self._too_soon():
                return
            self._begin(self.waiting.pop(0), agop)
        self._train_candidate()

    @property
    def _changed_at(self) -> int:
        """The last event at which the target's or the inputs' level or scale changed."""
        return max(self.target.changed_at, self.inputs.changed_at)

    def _too_soon(self) -> bool:
        """Whether levels or scales changed lately: earlier events would teach the wrong ones.

        An expert without weights does not wait.
        """
        changed_at = self._changed_at
        if self.waiting[0] in self.rebuilding:
            return False
        return self.memory.n - changed_at < min(changed_at, ENOUGH)

    def _begin(self, k: int, agop: NDArray[np.float64]) -> None:
        memory = self.memory
        self.candidate_of = k
        self._candidate = self._drawn(k, memory.n, agop)
        since = max(self.since, self._changed_at, memory.since)
        self.cursor = max(memory.n - memory.filled, min(since, memory.n - 1))
        # While the memory holds all history, the candidate sees as much as the old expert.
        unscored = self.cursor == self.since or not self.bank.scored or k in self.rebuilding
        self.scored_from = NEVER if unscored else (self.cursor + memory.n) // 2
        self.losses[:] = 0.0
        self.stats = self.inputs.stats.copy()
        self.scale = np.array([self.target.center, self.target.unit])

    def _train_candidate(self) -> None:
        k, new, memory = self.candidate_of, self._candidate, self.memory
        assert new is not None
        first, last = self.cursor, min(self.cursor + SLICE, memory.n)
        error = self.bank.replay(
            k, new, memory, first, last, ReplayStatistics(self.stats, self.scale)
        )
        self.cursor = last
        if first >= self.scored_from:
            i = np.arange(first, last) % len(memory.y)
            old = np.abs(self._scaled(self.predictions[i, k]) - self._scaled(memory.y[i]))
            self.losses += (old * memory.weights[i]).sum(), error
        if last < memory.n:
            return
        self._candidate = None
        if not all(all_finite(array) for array in new):
            self.waiting.insert(0, k)
        elif self.scored_from == NEVER or self.losses[1] < self.losses[0]:
            self.bank.put(k, new, memory.n)
            self.rebuilding = [each for each in self.rebuilding if each != k]

    def _scaled(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return targets on the candidate's scale, clipped like its own."""
        center, unit = self.scale
        return np.clip((y - center) / unit, -FENCE, FENCE)

    def floats(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield the arrays of the candidate, too."""
        yield from super().floats()
        if self._candidate is not None:
            for name, array in self._candidate._asdict().items():
                yield f"candidate.{name}", array

    def state(self) -> dict[str, Any]:
        """Return the state, including the candidate."""
        return super().state() | {"candidate": to_state(self._candidate)}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self._candidate = from_state(RLSState, state["candidate"])


GRADIENTS = 500.0
"""Number of events over which outer products of gradients are averaged, about."""


class ResampledRidges(Sleeper):
    """Ridge experts on random features, whose units are redrawn from what was learned.

    `key`, two words, seeds the draws; if not `resampled`, the first units are the last.
    """

    kept = ("agop",)
    parts = ("bank", "resampler")

    def __init__(
        self,
        bank: RLSBank,
        inputs: Inputs,
        target: Target,
        memory: Memory,
        key: NDArray[np.uint64],
        *,
        resampled: bool = True,
    ) -> None:
        self.bank = bank
        self.names = bank.names
        self.memory = memory
        self.resampled = resampled
        self.agop = np.tile(np.eye(bank.n_lags), (len(bank.specs), 1, 1))
        self.resampler = FeatureResampler(bank, inputs, target, memory, key)
        self._rate = np.zeros(())

    def widen(self, n_columns: int) -> None:
        """Make room for new columns, and schedule a redraw that uses them."""
        K, d = self.agop.shape[:2]
        self.bank.widen(n_columns)
        agop = np.tile(np.eye(d + n_columns), (K, 1, 1))
        agop[:, :d, :d] = self.agop
        self.agop = agop
        if not self.bank.omega.any():  # these are the first columns
            self.resampler.draw_first(self.agop)
        elif self.resampled:
            self.resampler.schedule_redraw_for_new_columns()

    def begin_anew(self) -> None:
        """Forget the past: units are drawn, and redrawn, as at first."""
        self.agop[:] = np.eye(self.agop.shape[1])
        self.resampler.begin_anew(self.agop)
        self.asleep = False

    def predicting(self, event: Observation, p: Vector) -> Iterable[Step]:
        """Return the steps that write the experts' predictions to p."""
        return self.bank.predicting(event, p)

    def frozen(self, event: Observation) -> list[dict[str, Any]]:
        return self.bank.frozen(event)

    def learning(self, event: Observation, p: Vector) -> Iterable[Step]:
        """Yield the steps that train the experts and update their gradients."""
        if self.bank.scored:
            at = event.at
            yield Call(unscale, (p, at.center, at.unit, at.n, self.resampler.predictions))
        yield from self.bank.learning(event, p)
        if self.resampled:
            self._set_rate(self.memory.n)
            yield self.bank.updating_agop(self._rate, self.agop, self.memory)

    def learned(self, event: Observation) -> bool:
        """Do a share of a redraw."""
        if not self.resampled:
            return False
        self.resampler.advance(self.agop)
        self._set_rate(self.memory.n + 1)
        if self.asleep is False:
            return False
        before, self.asleep = self.asleep, self.resampler.asleep
        return not np.array_equal(before, self.asleep)

    def _set_rate(self, n: int) -> None:
        """Set the rate at which the n-th event's gradients enter their mean."""
        self._rate[()] = 1.0 / min(1.0 + (n - self.resampler.since) / 4.0, GRADIENTS)

    def reinitialise(self, broken: Collection[str]) -> None:
        """Restart the broken experts, and forget gradients and a candidate that are broken."""
        self.agop[~np.isfinite(self.agop).all(axis=(1, 2))] = 0.0
        self.resampler.reinitialise(
            {name.removeprefix("resampler.") for name in broken if name.startswith("resampler.")}
        )
        which = self.bank.broken_predictors()
        units = np.array([all_finite(each) for each in self.bank.omega])
        units &= np.isfinite(self.bank.b).all(axis=1)
        self.bank.reinitialise(())
        self._rebuild(which, ~units)

    def restart(self, which: NDArray[np.bool_]) -> None:
        """Restart the marked experts (K,)."""
        self.bank.restart(which)
        self._rebuild(which, np.zeros(len(which), bool))

    def _rebuild(self, which: NDArray[np.bool_], redrawn: NDArray[np.bool_]) -> None:
        """Give experts without weights ones learned from the memory, some on new units at once."""
        for k in np.flatnonzero(redrawn).tolist():
            self.resampler.draw(k, self.agop)
        if self.resampled:
            self.resampler.rebuild(np.flatnonzero(which).tolist())
            self.asleep = self.resampler.asleep

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self.asleep = self.resampler.asleep

    def relevance(self, k: int) -> Vector:
        """Return the mean square, (d,), of the gradient of expert k along each input."""
        n_lags = self.bank.n_lags
        return np.diag(self.agop[k, n_lags:, n_lags:])
