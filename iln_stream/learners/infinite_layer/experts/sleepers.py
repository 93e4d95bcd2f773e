"""Experts that sleep while others do without them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.program import Step
from iln_stream.learners.infinite_layer.expert import (
    Expert,
    Observation,
    Vector,
    allocate_predictions,
)
from iln_stream.learners.infinite_layer.part import Part, require_fields

AWAKE = 4096
"""Events that they learn, from the first or from an alarm, before they may fall asleep."""

SHARE = 0.05
"""They fall asleep once their share of the weight is less than this."""

SPAN = 1000.0
"""Number of events over which the share is averaged, about."""

ALARM = 2.0
"""They begin anew when the mean |error| of about 50 events is this many times that of 1,000."""


class Sleeper(Expert):
    """An expert that can forget the past."""

    def begin_anew(self) -> None:
        """Become untrained, with the present columns."""
        raise NotImplementedError


class SleepingExperts(Expert):
    """Experts that cost time, and sleep while their predictions weigh next to nothing.

    While they rest, they neither predict nor learn. When the error doubles, they begin anew without
    any past: what they knew, and what the memory holds, is of the concept that has ended. They then
    learn the new one from its first events, faster than experts that have to unlearn the old one.
    They are by the names under which their states are kept; they predict, learn, and begin anew in
    this order.
    """

    kept = ("resting", "share", "n_learned", "n_alarms")
    own = ("experts",)

    def __init__(self, experts: Mapping[str, Sleeper]) -> None:
        self.experts = dict(experts)
        self.names = tuple(name for expert in experts.values() for name in expert.names)
        _, places = allocate_predictions(list(experts.values()))
        self._members = list(zip(experts.values(), places, strict=True))
        self.resting = False
        self.share = 1.0  # of the weight, over about the last 1,000 events
        self.n_learned = 0  # events, since they began
        self.n_alarms = 0  # how often they began anew

    @property
    def asleep(self) -> bool | NDArray[np.bool_]:  # type: ignore[override]
        """Whether all their predictions don't count now, or which of them (n,)."""
        if self.resting:
            return True
        asleep: NDArray[np.bool_] | None = None
        for expert, place in self._members:
            if expert.asleep is not False:
                asleep = np.zeros(len(self.names), bool) if asleep is None else asleep
                asleep[place] = expert.asleep
        return False if asleep is None else asleep

    def owners(self, which: NDArray[np.bool_]) -> Iterator[tuple[Expert, NDArray[np.bool_]]]:
        """Yield the experts that made the marked predictions, and which of theirs are marked."""
        for expert, place in self._members:
            if which[place].any():
                yield from expert.owners(which[place])

    def named(self, name: str) -> Iterator[tuple[str, Part]]:
        for own, expert in self.experts.items():
            yield from expert.named(own)

    def widen(self, n_columns: int) -> None:
        """Make room for new columns in every expert."""
        for expert in self.experts.values():
            expert.widen(n_columns)

    def predicting(self, event: Observation, p: Vector) -> Iterable[Step]:
        """Yield the steps that write the experts' predictions to p, which is 0 while they rest."""
        if self.resting:
            p[:] = 0.0
            return
        for expert, place in self._members:
            yield from expert.predicting(event, p[place])

    def frozen(self, event: Observation) -> list[dict[str, Any]]:
        return [form for expert in self.experts.values() for form in expert.frozen(event)]

    def learning(self, event: Observation, p: Vector) -> Iterable[Step]:
        """Yield the steps by which the experts learn, unless they rest."""
        for expert, place in self._members if not self.resting else ():
            yield from expert.learning(event, p[place])

    def learned(self, event: Observation) -> bool:
        """Let the experts do what is due, unless they rest."""
        if self.resting:
            return False
        self.n_learned += 1
        changed = [expert.learned(event) for expert, _ in self._members]
        return any(changed)

    def weigh(self, share: float) -> bool:
        """Rest if this share of the weight, averaged with those before, is small.

        Returns whether they do.
        """
        self.share += (share - self.share) / SPAN
        self.resting = self.n_learned >= AWAKE and self.share < SHARE
        return self.resting

    def begin_anew(self) -> None:
        """Wake up without a past."""
        for expert in self.experts.values():
            expert.begin_anew()
        self.resting, self.share, self.n_learned = False, 1.0, 0
        self.n_alarms += 1

    def state(self) -> dict[str, Any]:
        """Return the state, with those of the experts by name."""
        experts = {name: expert.state() for name, expert in self.experts.items()}
        return super().state() | {"experts": experts}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        require_fields(type(self).__name__, state["experts"], self.experts)
        for name, expert in self.experts.items():
            expert.restore(state["experts"][name])
