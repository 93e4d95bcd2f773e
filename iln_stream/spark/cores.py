"""What kind of learner each key has: how it is born, read from the store, and written to it."""

from collections.abc import Mapping
from typing import Any, Protocol

from iln_stream.errors import StateError
from iln_stream.keyed import (
    FrozenPrior,
    Row,
    key_of,
    key_state_from_bytes,
    key_state_to_bytes,
    new_row,
)
from iln_stream.keyed.loops import key_model
from iln_stream.keyed.prior import Look, checked
from iln_stream.learners import model_of, state_of
from iln_stream.spark.blocks import AppendedBlocks
from iln_stream.spark.packed import packed, unpacked
from iln_stream.state import StateDict, from_bytes


class Core(Protocol):
    """One kind of learner."""

    def born(self) -> Any:
        """Return a new key's learner."""
        ...

    def read(self, data: bytes, blocks: AppendedBlocks) -> Any:
        """Return the learner that was written.

        Raises
        ------
        StateError
            When the bytes are something else.

        """
        ...

    def write(self, learner: Any, blocks: AppendedBlocks) -> bytes:
        """Return the learner's bytes; parts that never change go to `blocks`."""
        ...


def core_of(prior: bytes, key_input: str | None) -> Core:
    """Return the core of a prior's bytes.

    Parameters
    ----------
    prior
        Of a learner (`prior_of`) or of a `FrozenPrior`.
    key_input
        The input that is the key, which small models must not have; None: no input is.

    """
    state = from_bytes(prior)
    if state.get("class") == "iln_stream.FrozenPrior":
        return SmallModels(FrozenPrior.from_state(state), key_input)
    return Learners(state)


class Learners:
    """Each key has a learner of its own, any that has a state.

    Parameters
    ----------
    prior
        The state with which each learner begins.

    """

    def __init__(self, prior: StateDict) -> None:
        self._prior = prior

    def born(self) -> Any:
        """Return a learner with the prior's state."""
        return model_of(self._prior)

    def read(self, data: bytes, blocks: AppendedBlocks) -> Any:
        """Return the learner that was written."""
        return model_of(unpacked(data, blocks.array))

    def write(self, learner: Any, blocks: AppendedBlocks) -> bytes:
        """Return the learner's bytes."""
        return packed(state_of(learner), blocks.name)


class SmallModels:
    """Each key has a small model, a row of numbers; what all keys share is frozen.

    Parameters
    ----------
    prior
        What all keys share.
    key_input
        The input that is the key; None: no input is.

    """

    def __init__(self, prior: FrozenPrior, key_input: str | None) -> None:
        self._prior = prior
        self._key_input = key_input
        self._scratch = key_model().new_scratch(prior.slopes + 1)

    def born(self) -> "SmallModel":
        """Return the model of a key without events."""
        return self._model(new_row(self._prior.slopes))

    def read(self, data: bytes, blocks: AppendedBlocks) -> "SmallModel":
        """Return the model that was written."""
        row = key_state_from_bytes(data)
        if len(row) != len(new_row(self._prior.slopes)):
            raise StateError("the state of a key has another number of slopes than the prior")
        return self._model(row)

    def write(self, learner: "SmallModel", blocks: AppendedBlocks) -> bytes:
        """Return the model's bytes, at most 1 kB with 12 slopes."""
        return key_state_to_bytes(learner.row)

    def _model(self, row: Row) -> "SmallModel":
        return SmallModel(self._prior, row, self._scratch, self._key_input)


class SmallModel:
    """A key's small model for the loop: `predict_event` and `learn_event`, to the bit.

    Parameters
    ----------
    prior
        What all keys share.
    row
        The key's state, which learning changes.
    scratch
        Room of compiled functions, which models share.
    key_input
        The input that is the key; None: no input is.

    """

    def __init__(self, prior: FrozenPrior, row: Row, scratch: Any, key_input: str | None) -> None:
        self.prior = prior
        self.row = row
        self.scratch = scratch
        self.key_input = key_input
        self._loops = key_model()
        self._last: tuple[Mapping[Any, float], Look] | None = None

    def predict_one(self, x: Mapping[Any, float]) -> float:
        """Return the prediction of x."""
        look = self._look(x)
        self._last = x, look
        prior = self.prior
        return float(
            self._loops.predict_key(
                look.g, look.values, self.row, prior.stats, prior.shared, self.scratch
            )
        )

    def learn_one(self, x: Mapping[Any, float], y: float) -> None:
        """Learn that y is the target of x."""
        y = checked(y, None)
        last, self._last = self._last, None
        # The loop learns the inputs that it has just predicted: what the prior said still holds.
        look = last[1] if last is not None and last[0] is x else self._look(x)
        prior = self.prior
        self._loops.learn_key(
            look.g, y, look.values, self.row, prior.stats, prior.shared, self.scratch, True
        )

    def _look(self, x: Mapping[Any, float]) -> Look:
        if self.key_input is not None:
            _, x = key_of(x, self.key_input)
        return self.prior.look(x)
