"""Labels that come in a record of their own, after the prediction was published."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from iln_stream.prequential.step import Prediction
from iln_stream.reporting import MetricSpec
from iln_stream.state import StateDict


@runtime_checkable
class LearnsLate(Protocol):
    """A learner that can learn a label with what it computed at the time of the prediction.

    A token has only plain values and arrays (see `iln_stream.state`), because snapshots store it.
    """

    def predict_token(self, x: Mapping[Any, float]) -> tuple[Any, StateDict]:
        """Return the prediction, and a token from which its label can be learned."""
        ...

    def learn_token(self, token: StateDict, y: Any) -> None:
        """Learn the label of the prediction that the token came with."""
        ...


class Pending(NamedTuple):
    """A predicted event that has no label yet."""

    x: dict[str, float]
    y_pred: Prediction
    time: float | None
    token: StateDict | None
    weight: float | None = None


class PendingEvents:
    """Predicted events that wait for their labels, by id.

    If the learner is not `LearnsLate`, `learn_one` learns the label with the event's x.

    Parameters
    ----------
    learner
        Any River learner.
    size
        Maximum number of waiting events; beyond it the oldest expires and is never learned.

    """

    def __init__(self, learner: Any, size: int) -> None:
        if size < 1:
            raise ValueError(f"size = {size} must be at least 1 event")
        self._size = size
        self._waiting: dict[str, Pending] = {}
        self._learner = learner
        self._learns_late = isinstance(learner, LearnsLate)
        self.n_expired = 0

    def __len__(self) -> int:
        """Return the number of waiting events."""
        return len(self._waiting)

    def __contains__(self, event_id: str) -> bool:
        """Return whether an event with this id waits."""
        return event_id in self._waiting

    def get(self, event_id: str) -> Pending | None:
        """Return the waiting event with this id, or None."""
        return self._waiting.get(event_id)

    def predict(
        self,
        x: dict[str, float],
        predict: Callable[[Mapping[Any, float]], Prediction],
        checked: Callable[[Any], Prediction],
    ) -> tuple[Prediction, StateDict | None]:
        """Return the prediction for x, and a token if the learner makes tokens."""
        if not self._learns_late:
            return predict(x), None
        y_pred, token = self._learner.predict_token(x)
        return checked(y_pred), token

    def add(self, event_id: str, event: Pending) -> None:
        """Keep an event, as the newest, until its label comes."""
        self._waiting.pop(event_id, None)
        self._waiting[event_id] = event
        if len(self._waiting) > self._size:
            del self._waiting[next(iter(self._waiting))]
            self.n_expired += 1

    def learn(self, event_id: str, y: Any, w: float | None = None) -> None:
        """Learn the label of a waiting event and remove the event.

        `w` is the weight for a learner that takes one; None: it takes none.
        """
        event = self._waiting[event_id]
        weight = {} if w is None else {"w": w}
        if event.token is None:
            self._learner.learn_one(event.x, y, **weight)
        else:
            self._learner.learn_token(event.token, y, **weight)
        del self._waiting[event_id]

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the exported metrics."""
        return (
            MetricSpec(
                "iln_pending_events",
                "gauge",
                "Predicted events that wait for their label.",
                lambda: len(self._waiting),
            ),
            MetricSpec(
                "iln_pending_expired_total",
                "counter",
                "Events that expired before their label came, as more than pending_events waited.",
                lambda: self.n_expired,
            ),
        )

    def state(self) -> StateDict:
        """Return the waiting events, oldest first."""
        return {
            "n_expired": self.n_expired,
            "ids": list(self._waiting),
            "events": [_stored(event) for event in self._waiting.values()],
        }

    def restore(self, state: StateDict) -> None:
        """Replace the waiting events by those of a `state()`."""
        self.n_expired = state["n_expired"]
        events = map(_restored, state["events"])
        self._waiting = dict(zip(state["ids"], events, strict=True))


def _stored(event: Pending) -> StateDict:
    # Two lists, because keys of a state must be strings and classes need not be.
    stored = event._asdict()
    if isinstance(y_pred := event.y_pred, Mapping):
        stored["y_pred"] = {"classes": list(y_pred), "probabilities": list(y_pred.values())}
    return stored


def _restored(state: StateDict) -> Pending:
    event = Pending(**state)
    if isinstance(event.y_pred, dict):
        classes = zip(event.y_pred["classes"], event.y_pred["probabilities"], strict=True)
        return event._replace(y_pred=dict(classes))
    return event
