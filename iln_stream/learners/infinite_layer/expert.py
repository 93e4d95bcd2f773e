"""What an expert is, and the event that it sees."""

import math
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.program import Scalar, Step
from iln_stream.learners.infinite_layer.part import Part

Vector = NDArray[np.float64]


class Numbers(NamedTuple):
    """Numbers of an event, which compiled functions read and write in place."""

    center: Scalar  # the target's scale, at the time of the prediction
    unit: Scalar
    prediction: Scalar  # for intervals and drift
    y: Scalar  # the target
    t: Scalar  # on the scale after it joined that
    evicted: Scalar  # the target that leaves the memory for it
    weight: Scalar  # how much the event counts when experts and rules learn it
    n: Scalar  # number of events learned before this one
    delay: Scalar  # and since it was predicted, if its label is late


def _number(i: int) -> Any:
    """One of the numbers, for Python."""
    return property(
        lambda event: event.at[i].item(), lambda event, value: event.at[i].__setitem__((), value)
    )


class Observation:
    """An event as the experts see it; the next event overwrites its arrays.

    The last `n_lags` targets are inputs, too; d is the number of columns.
    """

    __slots__ = ("_raw", "at", "faults", "raw", "row", "sound", "v", "z")

    center, unit, prediction, y, t, evicted, weight, n, delay = map(_number, range(9))

    def __init__(self, n_lags: int, d: int) -> None:
        self._raw: Vector = np.zeros(d)
        self.raw = self._raw.view()  # inputs as they came (d,), with `ABSENT` for a missing one
        self.raw.flags.writeable = False  # as rows are: one compiled function for both
        self.row: Vector = np.zeros(d)  # these, or what stands in for a missing one
        self.v: Vector = np.zeros(n_lags + d)  # last targets and `z`, (n_lags + d,)
        self.z = self.v[n_lags:]  # the values' deviations, (d,): a view of v
        count = partial(np.zeros, (), np.int64)
        self.at = Numbers(*(np.zeros(()) for _ in Numbers._fields))._replace(
            n=count(), delay=count()
        )
        self.unit = self.weight = 1.0
        self.sound = True  # whether all predictions and weights were finite, so far
        # experts whose predictions were not, each with a mask of these (n,)
        self.faults: list[tuple[Any, NDArray[np.bool_]]] = []

    def take(self, x: Vector) -> None:
        """Copy the raw row."""
        self._raw[:] = x

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy is empty, with a view of its own: an engine's copy predicts again."""
        return Observation, (len(self.v) - len(self.z), len(self.row))


class Expert(Part):
    """Makes one or several predictions of the scaled target for each event, and learns from it.

    To add one, write its class in a file of this package, with `predict` and `learn`, or, where all
    that these do is to call compiled functions, with `predicting` and `learning`; and name it in a
    composition, such as `accurate.py`: the rule learns what it is worth, and its weight, state and
    frozen form are reported, kept and exported with those of the others. The composition's states
    change with it, or with what an expert keeps: where a release has the learner's `state_version`,
    raise that and write a migration.

    `event.center` and `event.unit` are the target's scale at the time of the prediction; t, in
    `learn`, is on the scale after the target joined it; `event.weight` is how much it counts.

    A prediction that is not finite, or beyond `regression_event.LARGEST` units, is nan: the mixture
    then does without it, and the expert is reinitialised before it learns; see `Healer`.
    """

    names: tuple[str, ...]
    """Of its predictions, as users see them."""

    value = math.nan
    """The prediction that a rule within the expert scores next, if there is one."""

    is_late = False
    """Whether a rule within the expert scores earlier outputs next, in place of its last ones."""

    asleep: bool | NDArray[np.bool_] = False
    """Whether its predictions don't count now, or which of them (n,); it learns all the same."""

    def widen(self, n_columns: int) -> None:
        """Make room for new columns; by default there is nothing to do."""

    def admit(self, event: Observation) -> bool:
        """Make room for what an event to learn has for the first time; return if arrays changed."""
        return False

    def predicting(self, event: Observation, p: Vector) -> Iterable[Step]:
        """Return the steps that write the predictions for the event to p (n,), as scaled targets.

        They are bound to the present arrays: see `learned`.
        """
        if type(self).predict is Expert.predict:
            raise NotImplementedError(f"{type(self).__name__} has no predict")
        return [partial(self.predict, event, p)]

    def learning(self, event: Observation, p: Vector) -> Iterable[Step]:
        """Return the steps that learn the event, whose predictions are p."""
        if type(self).learn is Expert.learn:
            return ()
        return [lambda: self.learn(event, event.t, p)]

    def learned(self, event: Observation) -> bool:
        """Do what is due after an event was learned, beside the steps.

        Returns whether steps have to be bound anew: arrays were replaced, or others sleep now.
        """
        return False

    def predict(self, event: Observation, p: Vector) -> None:
        """Write the predictions for the event to p (n,), as scaled targets."""
        for step in self.predicting(event, p):
            step()

    def learn(self, event: Observation, t: float, p: Vector) -> None:
        """Learn that the event's scaled target was t; p are the predictions for it."""
        event.t = t
        for step in self.learning(event, p):
            step()
        self.learned(event)

    def frozen(self, event: Observation) -> list[dict[str, Any]]:
        """Return the forms by which NumPy alone makes its present predictions, in their order.

        Each is a key `form` of `FORMS` (`iln_stream.learners.frozen.predictors`), and what that
        formula takes: plain values, and arrays that may be the expert's own. The event is the last
        one predicted.
        """
        raise NotImplementedError(f"{type(self).__name__} can't be frozen")

    def outputs(self) -> list[float]:
        """Return what a rule within the expert scores by the target: nothing, if there is none."""
        return []

    def score(self, outputs: Vector) -> Vector:
        """Let such a rule score outputs at the next `learn`; return the rest, which is others'.

        The experts' own predictions stay: each learns from its present one.
        """
        return outputs

    def owners(self, which: NDArray[np.bool_]) -> Iterator[tuple["Expert", NDArray[np.bool_]]]:
        """Yield who made the marked predictions (n,), and which of theirs are marked."""
        yield self, which

    def named(self, name: str) -> Iterator[tuple[str, Part]]:
        """Yield the parts that are reinitialised one by one, given the expert's name: itself."""
        yield name, self


def allocate_predictions(experts: list[Expert]) -> tuple[Vector, list[slice]]:
    """Return an array for the predictions of all experts, and the place of each in it."""
    sizes = [len(expert.names) for expert in experts]
    ends = np.cumsum(sizes).tolist()
    places = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    return np.zeros(sum(sizes)), places
