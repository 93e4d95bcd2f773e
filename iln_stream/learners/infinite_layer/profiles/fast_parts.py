"""The parts of profile fast that heal: views of the engine's arrays, and how to renew each."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled.activations import TURNS
from iln_stream.compiled.column_statistics import CHANGED_AT, no_statistics
from iln_stream.compiled.fast_event import (
    BLOCK,
    DRIFT,
    EVENTS,
    HUBER_RECORD,
    KEPT,
    LAGS,
    N_LAGS,
    RIDGE,
    STEPS,
)
from iln_stream.compiled.hidden_units import LINEAR_SCALE
from iln_stream.compiled.moving_units import AVERAGE
from iln_stream.compiled.standardise import ABSENT, MEAN
from iln_stream.compiled.target import FENCE, WIDTH, center_and_unit, join_target
from iln_stream.learners.infinite_layer.engine.inputs import Inputs
from iln_stream.learners.infinite_layer.engine.observation import Vector
from iln_stream.learners.infinite_layer.part import Part

REFITTED = 512
"""Events of the memory that a broken ridge is fitted to: at 10 inputs this takes 1 ms."""


class Arrays(Protocol):
    """What parts need of `FastEngine`, which keeps and saves the arrays."""

    inputs: Inputs
    target: Vector
    record: Vector
    table: Vector
    units: NDArray[Any]
    theta: Vector
    P: Vector
    mean_squares: Vector
    memory: Vector
    past: "FastMemory"

    @property
    def n(self) -> int:
        """Events learned."""

    def begin_rule(self) -> None:
        """Let the experts weigh the same."""

    def draw_units(self) -> None:
        """Draw the units anew."""


class FastPart(Part):
    """Some of the engine's arrays.

    Parameters
    ----------
    engine
        The engine.

    """

    def __init__(self, engine: Arrays) -> None:
        self.engine = engine


class Count(FastPart):
    """The number of events learned, which other parts count as well."""

    def floats(self) -> Iterator[tuple[str, Vector]]:
        """Yield the number, as an array."""
        yield "events", self.engine.record[EVENTS : EVENTS + 1]

    def reinitialise(self, broken: Collection[str]) -> None:
        """Take the number from the part that has counted most events."""
        self.engine.record[EVENTS] = self.engine.n


class FastMemory(FastPart):
    """The last events, as rows [last targets, raw row, target], and weight once one is not 1."""

    @property
    def target(self) -> int:
        """The targets' column."""
        return len(self.engine.mean_squares)

    @property
    def columns(self) -> Vector:
        """The raw rows (d, N)."""
        return self.engine.memory[:, N_LAGS : self.target].T

    @property
    def y(self) -> Vector:
        """The targets, (N,)."""
        return self.engine.memory[:, self.target]

    @property
    def filled(self) -> int:
        """Number of events kept."""
        return min(self.engine.n, len(self.y))

    def last(self, size: int) -> Vector:
        """Return at most so many of the last events, the newest last."""
        n = self.engine.n
        slots = np.arange(n - min(size, self.filled), n) % len(self.y)
        return self.engine.memory[slots]

    def numbered(self) -> Iterable[tuple[int, int]]:
        """Return number, from 1, and slot of the events kept, the oldest first."""
        n = self.engine.n
        return ((i + 1, i % len(self.y)) for i in range(n - self.filled, n))

    def floats(self) -> Iterator[tuple[str, Vector]]:
        """Yield the memory, and how many of its events are of the target's present level."""
        yield "memory", self.engine.memory
        yield "kept", self.engine.record[KEPT:]

    def reinitialise(self, broken: Collection[str]) -> None:
        """Make broken inputs absent, broken targets the median of the others, and weights 1.

        Units learn from events after the last broken target only, as from those after a change.
        """
        engine, n = self.engine, self.engine.n
        memory, record = engine.memory, engine.record
        inputs, weights = memory[:, N_LAGS : self.target], memory[:, self.target + 1 :]
        targets = memory[:, [*range(N_LAGS), self.target]]
        weights[~np.isfinite(weights)] = 1.0
        inputs[~np.isfinite(inputs)] = ABSENT
        last = self.last(len(memory))[:, self.target]
        known = np.isfinite(last)
        targets[~np.isfinite(targets)] = np.median(last[known]) if known.any() else 0.0
        memory[:, [*range(N_LAGS), self.target]] = targets
        if "kept" in broken:
            changed_at = engine.target[CHANGED_AT, 0]
            record[KEPT] = n - changed_at if 0.0 <= changed_at < n else n
        sound = len(last) if known.all() else np.argmin(known[::-1])
        record[KEPT] = min(record[KEPT], sound)


class TargetStatistics(FastPart):
    """The target's scale."""

    def floats(self) -> Iterator[tuple[str, Vector]]:
        """Yield the statistics."""
        yield "target", self.engine.target

    def reinitialise(self, broken: Collection[str]) -> None:
        """Compute the statistics anew from the memory's targets."""
        memory, target = self.engine.past, self.engine.target
        target[:] = no_statistics(1)
        for n, i in memory.numbered():
            join_target(memory.y[i], target, n)


class LastTargets(FastPart):
    """The last targets."""

    def floats(self) -> Iterator[tuple[str, Vector]]:
        """Yield the targets, the newest first."""
        yield "lags", self.engine.record[LAGS:HUBER_RECORD]

    def reinitialise(self, broken: Collection[str]) -> None:
        """Take them from the memory."""
        last = self.engine.past.last(N_LAGS)[::-1, self.engine.past.target]
        self.engine.record[LAGS:HUBER_RECORD] = 0.0
        self.engine.record[LAGS : LAGS + len(last)] = last


class DriftMeans(FastPart):
    """The means of |error| that tell drift."""

    def floats(self) -> Iterator[tuple[str, Vector]]:
        """Yield their record."""
        yield "drift", self.engine.record[DRIFT:LAGS]

    def reinitialise(self, broken: Collection[str]) -> None:
        """Begin the means anew."""
        self.engine.record[DRIFT:LAGS] = 0.0


class Rule(FastPart):
    """The rule that weighs the experts."""

    def floats(self) -> Iterator[tuple[str, Vector]]:
        """Yield the regrets and weights, and the size of an ordinary error."""
        yield "table", self.engine.table
        yield "record", self.engine.record[EVENTS + 1 : DRIFT]

    def reinitialise(self, broken: Collection[str]) -> None:
        """Forget all regrets: the experts weigh the same."""
        self.engine.begin_rule()


class Ridge(FastPart):
    """The ridge and its units."""

    def floats(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield units, weights, covariance, mean squares of gradients, and two records."""
        engine = self.engine
        yield "units", engine.units
        yield "theta", engine.theta
        yield "P", engine.P
        yield "mean_squares", engine.mean_squares
        yield "errors", engine.record[HUBER_RECORD:STEPS]
        yield "steps", engine.record[STEPS:KEPT]

    def reinitialise(self, broken: Collection[str]) -> None:
        """Draw broken units anew; fit the ridge to the units on the last events.

        Relevance begins anew if it is broken.
        """
        engine = self.engine
        if {"units", "steps"} & set(broken):
            engine.draw_units()
        if {"units", "steps", "theta", "P"} & set(broken):
            self._fit()
        if "mean_squares" in broken:
            engine.mean_squares[:] = 1.0
        engine.record[HUBER_RECORD:STEPS] = 0.0

    def _fit(self) -> None:
        engine = self.engine
        events = engine.past.last(min(REFITTED, int(engine.record[KEPT])))
        L, R = engine.units.shape[1] - 1, engine.units.shape[2]
        center, unit = center_and_unit(engine.target)
        targets = np.clip((events - center) / unit, -FENCE, FENCE)
        v = WIDTH * targets[:, :L]
        sd, inputs = engine.inputs.sd, events[:, N_LAGS:L]
        known = (inputs < ABSENT) & (sd > 0.0)
        deviations = (inputs - engine.inputs.stats[MEAN]) / np.where(sd > 0.0, sd, 1.0)
        v[:, N_LAGS:] = np.where(known, np.clip(deviations, -5.0, 5.0), 0.0)
        units = engine.units[AVERAGE].astype(float)
        phi = np.zeros((len(events), len(engine.theta)))
        phi[:, :R] = 3.0 * np.sqrt(2.0 / R) * np.cos((v @ units[:L] + units[L]) / TURNS)
        phi[:, R] = 1.0
        phi[:, R + 1 : R + 1 + L] = LINEAR_SCALE * v
        rows = phi if events.shape[1] == L + 1 else phi * events[:, L + 1 :]
        gram = phi.T @ rows + RIDGE * np.eye(len(engine.theta))
        engine.theta[:] = np.linalg.solve(gram, rows.T @ targets[:, L])
        for u, block in enumerate(engine.P):
            own = slice(u * BLOCK, (u + 1) * BLOCK)
            inverse = np.linalg.inv(gram[own, own])
            block[:] = (inverse + inverse.T) / 2.0
