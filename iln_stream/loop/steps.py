"""Many steps at once: as columns, and the latest of all."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import attrgetter
from typing import Any, overload

from iln_stream.loop.step import Details, Step
from iln_stream.streams import StreamPartition

FEW = 32
"""Fewer steps than this wait for more: columns pay for many."""


@dataclass(slots=True, eq=False)
class Steps(Sequence[Step]):
    """Steps in their order, as columns: each field of `Step`, for all of them.

    To work on columns takes less time than to make a `Step` of each event and look at these.

    Examples
    --------
    >>> from iln_stream.loop import Step, Steps
    >>> from iln_stream.streams import StreamPartition
    >>> first = Step(StreamPartition("file", 0), 0, None, None, {"a": 1.0}, 2.0, 1.5, 0.125)
    >>> steps = Steps.of([first, first._replace(offset=1, y=3.0)])
    >>> steps.y, steps[1].offset, len(steps)
    ((2.0, 3.0), 1, 2)

    """

    origin: Sequence[StreamPartition]
    offset: Sequence[int]
    event_id: Sequence[str | None]
    time: Sequence[float | None]
    x: Sequence[Mapping[Any, float]]
    y: Sequence[Any]
    y_pred: Sequence[Any]
    loss: Sequence[float | None]
    flags: Sequence[tuple[str, ...]]
    late: Sequence[bool]
    seconds: Sequence[float]
    ended: Sequence[float]
    key: Sequence[str | None]
    details: Sequence[Details]
    delay: Sequence[float | None]
    baselines: Sequence[tuple[float, ...]]
    weight: Sequence[float]
    series: Sequence[tuple[str, ...]]

    @classmethod
    def of(cls, steps: Sequence[Step]) -> "Steps":
        """Return these steps as columns."""
        if isinstance(steps, Steps):
            return steps
        return cls(*zip(*steps, strict=True)) if steps else cls(*[()] * len(Step._fields))

    def __len__(self) -> int:
        return len(self.offset)

    def __iter__(self) -> Iterator[Step]:
        return map(Step._make, zip(*_columns(self), strict=True))

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> "Steps": ...
    def __getitem__(self, index: int | slice) -> "Step | Steps":
        found = (column[index] for column in _columns(self))
        return Steps(*found) if isinstance(index, slice) else Step._make(found)

    def where(self, chosen: Sequence[bool]) -> "Steps":
        """Return those steps for which it is true."""
        return Steps(*(tuple(compress(column, chosen)) for column in _columns(self)))

    @property
    def labelled(self) -> "Steps":
        """Those steps whose label was learned."""
        return self.where([loss is not None for loss in self.loss]) if None in self.loss else self

    @property
    def scored(self) -> "Steps":
        """Of labelled steps, those with a score: of classes, the learner knew one."""
        return self.where([y_pred != {} for y_pred in self.y_pred]) if {} in self.y_pred else self

    @property
    def weights(self) -> Sequence[float] | None:
        """The weights; None: all are 1."""
        return None if self.weight.count(1.0) == len(self) else self.weight


_columns = attrgetter(*Step._fields)


class LatestSteps:
    """The last `most` steps, numbered from 1 on, in the parts in which they came.

    One thread may add steps while others read. Those of a run before may have any form.
    """

    def __init__(self, most: int) -> None:
        self.n = 0  # number of steps so far
        self._most = most
        self._parts: deque[tuple[int, Sequence[Any]]] = deque()  # each after its last number

    def add(self, steps: Sequence[Any]) -> None:
        """Add steps."""
        parts = self._parts
        self.n = n = self.n + len(steps)
        parts.append((n, steps))
        while n - self._most >= parts[0][0]:
            parts.popleft()

    def after(self, number: int) -> list[tuple[int, Any]]:
        """Return the steps with a higher number, each with its own."""
        found: list[tuple[int, Any]] = []
        for last, part in list(self._parts):
            if last > number:
                found += enumerate(part, last - len(part) + 1)
        return [each for each in found[-self._most :] if each[0] > number]

    def __reversed__(self) -> Iterator[Any]:
        for _, part in reversed(list(self._parts)):
            yield from reversed(part)
