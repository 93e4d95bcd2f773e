"""How long events wait for labels, and what happens to those that wait too long."""

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class LatePolicy:
    """Bounds on waiting events and labels.

    Parameters
    ----------
    events
        Most events that wait; beyond it the oldest expires.
    n_bytes
        Most memory that they take, about; beyond it the oldest expires. None: any.
    seconds
        Longest wait, by the times of records. None: any.
    expired
        What happens to an event that waited longer than `seconds`: "count" it only, "write" it to
        the dead letters, or "learn" it with `label`. Of events that expire because there are too
        many, "write" writes these, too; "learn" only counts them, as they were not waited for.
    label
        The label that "learn" assumes.
    early
        Most labels that wait for an event which has not come; beyond it the oldest becomes a dead
        letter. 0: such a label is a dead letter at once.

    Raises
    ------
    ValueError
        When a bound is not positive, or `label` and `expired` contradict each other.

    """

    events: int
    n_bytes: int | None = None
    seconds: float | None = None
    expired: Literal["count", "write", "learn"] = "count"
    label: Any = None
    early: int = 0

    def __post_init__(self) -> None:
        if self.events < 1:
            raise ValueError(f"events = {self.events} must be at least 1")
        for name in ("n_bytes", "seconds"):
            if (bound := getattr(self, name)) is not None and not bound > 0:
                raise ValueError(f"{name} = {bound} must be above 0")
        if self.early < 0:
            raise ValueError(f"early = {self.early} must not be negative")
        if (self.expired == "learn") != (self.label is not None):
            raise ValueError("expired = 'learn' needs a label, and only it takes one")
        if self.expired == "learn" and self.seconds is None:
            raise ValueError("expired = 'learn' needs seconds: how long to wait for a label")
