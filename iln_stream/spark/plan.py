"""What each worker has to know to learn a stream by key."""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from iln_stream.errors import IlnError

if TYPE_CHECKING:
    from iln_stream.records.fields import FieldMapping


class PlanError(IlnError):
    """The plan asks for what learning by key on Spark can't do."""


def prior_of(learner: Any) -> bytes:
    """Return a learner as the frozen prior from which each key's learner is born.

    Of a `KeyedRegressor` it is what all keys share; each key has a small model of its own.

    Raises
    ------
    StateError
        When the learner has no state that can be saved.

    """
    from iln_stream.learners import state_of
    from iln_stream.learners.keyed import FrozenPrior, KeyedRegressor
    from iln_stream.state import to_bytes

    if isinstance(learner, KeyedRegressor):
        learner = learner.freeze()
    if isinstance(learner, FrozenPrior):
        return learner.to_bytes()
    return to_bytes(state_of(learner))


@dataclass(frozen=True)
class KeyedPlan:
    """How a stream is learned by key; Spark sends it to each worker.

    Raises
    ------
    PlanError
        When the mapping makes inputs of earlier records of all keys.

    """

    stream: str  # name of the topic, as predictions and dead letters carry it
    # From `prior_of`. All keys begin with it; a later change of it is an error.
    prior: bytes = field(repr=False)
    # model, model_version: as predictions carry them; see `Model` in `iln_stream.records`
    model: str = "spark"
    model_version: str = ""
    # roles of the fields of records; None: records are events, `{"x": {...}, "y": ...}`
    mapping: "FieldMapping | None" = None
    # the input that is the key, which a `KeyedRegressor`'s small models do not get; None: none
    key_input: str | None = None
    # the most learners that a worker keeps in memory between micro-batches
    live_learners: int = 10_000
    # the query fails after this many failures of one key's learner in a row, as the service does
    max_failures_in_a_row: int = 100
    # names this plan among all: a worker's live learners belong to one plan
    run: str = field(default_factory=lambda: uuid4().hex)

    def __post_init__(self) -> None:
        if self.live_learners < 1:
            raise PlanError(f"live_learners = {self.live_learners} must be at least 1")
        mapping = self.mapping
        if mapping is not None and (mapping.lags or mapping.rolling_means or mapping.time_features):
            raise PlanError(
                "lags, rolling_means and time_features make inputs of the records before, and a "
                "worker sees some keys' records only: compute them before the topic, or leave "
                "them out"
            )

    @cached_property
    def prior_digest(self) -> bytes:
        """Names the prior in each key's state."""
        return hashlib.blake2b(self.prior, digest_size=8).digest()
